import { isText } from '../../routers/typed-text.ts'
import type { Review } from '../admin/reviews.ts'
import { approve, listReviews, refuse } from '../admin/reviews.ts'
import { issuerOf } from '../oauth/metadata.ts'
import { readConfig } from '../process/config.ts'
import { text } from './arguments.ts'
import type { Io } from './command.ts'
import { UsageError } from './command.ts'
import { withDatabase } from './database.ts'
import { printable } from './printable.ts'

const MAX_REASON = 1000

const subject = { id: text, app: text, version: text }

export const reviewActions = { requests: {}, approve: subject, refuse: { ...subject, reason: text } } as const

interface Given {
  id?: string | undefined
  app?: string | undefined
  version?: string | undefined
  reason?: string | undefined
}

/** Prints what waits for approval, each with the command that approves just that. */
export async function printRequests(io: Io) {
  const reviews = await withDatabase(io, listReviews)
  const icons = `${issuerOf(readConfig(io.env).authBaseUrl)}/icons`
  const texts = reviews.map((review) => described(review, icons))
  io.stdout.write(texts.length === 0 ? 'Nothing waits for approval.\n' : texts.join('\n'))
}

/** A logo is looked at in a browser, at its address. */
function described({ id, kind, team, version, isNew, asked }: Review, icons: string) {
  const { purpose = {}, logo, ...rest } = asked as Record<string, unknown> & { purpose?: Record<string, string> }
  const fields = { ...rest, ...(logo !== undefined && { logo: `${icons}/${encodeURIComponent(id)}/${logo}` }) }
  const lines = Object.entries(fields).map(([name, value]) => [name, [value ?? '-'].flat().join(' ')] as const)
  const said = Object.entries(purpose).map(([scope, text]) => [scope, text.replaceAll(/\s+/g, ' ')] as const)
  const option = kind === 'client' ? '--id' : '--app'
  return [
    `${isNew ? 'New client' : `Changes of the ${kind}`} ${id} of the team ${team}`,
    ...[...lines, ...said].map(([name, text]) => `  ${name}: ${printable(text)}`),
    `  npm run -s client -- approve ${option} ${id} --version ${version}\n`,
  ].join('\n')
}

export async function decide(action: 'approve' | 'refuse', { id, app, version, reason }: Given, io: Io) {
  if ((id === undefined) === (app === undefined)) throw new UsageError('--id or --app is needed.')
  if (action === 'refuse' && !reason) throw new UsageError('--reason is needed: the team reads it.')
  if (reason !== undefined && !isText(reason, MAX_REASON)) {
    throw new UsageError(`--reason is 1 to ${MAX_REASON} characters, without control characters.`)
  }
  const read = version === undefined ? undefined : Number(version)
  if (read !== undefined && !Number.isInteger(read)) throw new UsageError('--version is a number.')
  const what = { kind: id === undefined ? ('app' as const) : ('client' as const), id: (id ?? app)!, version: read }
  const review = await withDatabase(io, (db) =>
    action === 'approve' ? approve(db, what, new Date()) : refuse(db, what, reason!, new Date()),
  )
  const done = action === 'approve' ? 'Approved' : 'Refused'
  io.stdout.write(`${done}: ${review.isNew ? 'the new client' : `the changes of the ${what.kind}`} ${what.id}\n`)
}
