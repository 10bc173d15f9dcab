import type { Database } from '../../prisma/client.ts'
import { logoVersions } from '../../routers/clients/logo-versions.ts'
import { isText } from '../../routers/kernel/typed-text.ts'
import type { Review, Subject } from '../admin/reviews.ts'
import { approve, listReviews, refuse } from '../admin/reviews.ts'
import { issuerOf } from '../browser/addresses.ts'
import { readSettings } from '../process/command-settings.ts'
import { text } from './arguments.ts'
import type { Io } from './command.ts'
import { UsageError } from './command.ts'
import { withDatabase } from './database.ts'
import { printable } from './printable.ts'

const MAX_REASON = 1000

const subject = { id: text, app: text, version: text }

export const reviewActions = {
  requests: {},
  approve: { ...subject, 'app-version': text },
  refuse: { ...subject, reason: text },
} as const

interface Given {
  id?: string | undefined
  app?: string | undefined
  version?: string | undefined
  'app-version'?: string | undefined
  reason?: string | undefined
}

/** Prints each pending request and what members will read, with the command that approves exactly that. */
export async function printRequests(io: Io) {
  const icons = `${issuerOf(readSettings(io.env, 'authBaseUrl').authBaseUrl)}/icons`
  const texts = await withDatabase(io, async (db) => {
    const reviews = await listReviews(db)
    const logos = await logoVersions(
      db,
      reviews.flatMap(({ app }) => app?.id ?? []),
    )
    return reviews.map((review) => described(review, icons, logos))
  })
  io.stdout.write(texts.length === 0 ? 'Nothing is pending approval.\n' : texts.join('\n'))
}

type Line = readonly [string, unknown]

function described({ id, kind, team, version, isNew, asked, app }: Review, icons: string, logos: Map<string, string>) {
  const iconOf = (app: string, logo: unknown) => logo && `${icons}/${encodeURIComponent(app)}/${logo}`
  const { purpose = {}, logo, ...rest } = asked as Record<string, unknown> & { purpose?: Record<string, string> }
  const lines: Line[] = [
    ...Object.entries(rest),
    ...(logo === undefined ? [] : [['logo', iconOf(id, logo)] as const]),
    ...Object.entries(purpose).map(([scope, text]) => [scope, text.replaceAll(/\s+/g, ' ')] as const),
    ...(app ? [['app', `${app.id}, version ${app.version}`] as const] : []),
    ...(['name', 'description', 'homepage'] as const).flatMap((field) =>
      app ? [[`app ${field}`, app[field]] as const] : [],
    ),
    ...(app ? [['app logo', iconOf(app.id, logos.get(app.id))] as const] : []),
  ]
  const option = kind === 'client' ? '--id' : '--app'
  const read = `--version ${version}${app ? ` --app-version ${app.version}` : ''}`
  return [
    `${isNew ? 'New client' : `Changes to the ${kind}`} ${id} of the team ${team}`,
    ...lines.map(([name, value]) => `  ${name}: ${printable([value ?? '-'].flat().join(' '))}`),
    `  npm run -s client -- approve ${option} ${id} ${read}\n`,
  ].join('\n')
}

export async function decide(action: 'approve' | 'refuse', { id, app, reason, ...given }: Given, io: Io) {
  if ((id === undefined) === (app === undefined)) throw new UsageError('--id or --app is required.')
  const what = { kind: id === undefined ? ('app' as const) : ('client' as const), id: (id ?? app)! }
  const read = { version: numberOf(given, 'version'), appVersion: numberOf(given, 'app-version') }
  const change = action === 'approve' ? approval(what, read) : refusal(what, read, reason)
  const { isNew } = await withDatabase(io, change)
  const done = action === 'approve' ? 'Approved' : 'Refused'
  io.stdout.write(`${done}: ${isNew ? 'the new client' : `the changes to the ${what.kind}`} ${what.id}\n`)
}

interface Read {
  version: number | undefined
  appVersion: number | undefined
}

function approval(what: Subject, { version, appVersion }: Read) {
  if (version === undefined) throw new UsageError('--version is required: npm run -s client -- requests prints it.')
  if (what.kind === 'app' && appVersion !== undefined) throw new UsageError('--app-version requires --id.')
  return (db: Database) => approve(db, { ...what, version, appVersion }, new Date())
}

function refusal(what: Subject, { version }: Read, reason: string | undefined) {
  if (!reason) throw new UsageError('--reason is required: the team reads it.')
  if (!isText(reason, MAX_REASON)) {
    throw new UsageError(`--reason must be 1 to ${MAX_REASON} characters, without control characters.`)
  }
  return (db: Database) => refuse(db, { ...what, version }, reason, new Date())
}

function numberOf(given: Given, name: 'version' | 'app-version') {
  const number = given[name] === undefined ? undefined : Number(given[name])
  if (number !== undefined && !Number.isInteger(number)) throw new UsageError(`--${name} must be a number.`)
  return number
}
