import type { Database } from '../../../prisma/client.ts'
import { logoVersions } from '../../../routers/developer/apps/logo.ts'
import type { PendingReview, Subject } from '../../../routers/developer/reviews/decide.ts'
import { approve as approveIn, listReviews, refuse as refuseIn } from '../../../routers/developer/reviews/decide.ts'
import { toIssuer } from '../../browser/addresses.ts'
import { readAuthBaseUrl } from '../../process/running-address.ts'
import type { Io, Line } from '../line/command.ts'
import { action, UsageError } from '../line/command.ts'
import { withDatabase } from '../line/database.ts'
import { parseNumber, parseReason } from '../line/review-options.ts'
import { printable } from '../line/table.ts'

const VERSION = 'the version that you have read, as requests prints it; another one is not decided on'

const subject = (line: Line) =>
  line
    .option('--id <ID>', 'the id of the client')
    .option('--app <APP>', 'the id of an app; a client without one has no storage')

/** Each pending request and what members will read, with the command that approves exactly that. */
export const requests = action(
  {
    about: 'lists what teams have asked for, with the line that approves exactly that',
    async run(_values, io) {
      const icons = `${toIssuer(await readAuthBaseUrl(io.env))}/icons`
      return withDatabase(io, async (db) => {
        const reviews = await listReviews(db)
        const apps = reviews.flatMap(({ app }) => app?.id ?? [])
        const logos = await logoVersions(db, apps)
        return reviews.map((review) => withLogos(review, icons, logos))
      })
    },
  },
  {
    json: '[{ id, kind, name, team, version, isNew, asked, app }]',
    text: (reviews) => reviews.map(described).join('\n') || 'Nothing is pending approval.\n',
  },
)

/** The versions of logos are replaced by the addresses at which they are seen. */
function withLogos({ asked, app, ...review }: PendingReview, icons: string, logos: Map<string, string>) {
  const toIconUrl = (id: string, version: unknown) => (version ? `${icons}/${encodeURIComponent(id)}/${version}` : null)
  const { logo, ...rest } = asked as Record<string, unknown>
  return {
    ...review,
    asked: logo === undefined ? rest : { ...rest, logo: toIconUrl(review.id, logo) },
    app: app && { ...app, logo: toIconUrl(app.id, logos.get(app.id)) },
  }
}

type Field = readonly [string, unknown]

function described({ id, kind, team, version, isNew, asked, app }: ReturnType<typeof withLogos>) {
  const { purpose = {}, logo, ...rest } = asked as Record<string, unknown> & { purpose?: Record<string, string> }
  const lines: Field[] = [
    ...Object.entries(rest),
    ...(logo === undefined ? [] : [['logo', logo] as const]),
    ...Object.entries(purpose).map(([scope, text]) => [scope, text.replaceAll(/\s+/g, ' ')] as const),
    ...(app ? [['app', `${app.id}, version ${app.version}`] as const] : []),
    ...(['name', 'description', 'homepage', 'logo'] as const).flatMap((field) =>
      app ? [[`app ${field}`, app[field]] as const] : [],
    ),
  ]
  const option = kind === 'client' ? '--id' : '--app'
  const read = `--version ${version}${app ? ` --app-version ${app.version}` : ''}`
  return [
    `${isNew ? 'New client' : `Changes to the ${kind}`} ${id} of the team ${team}`,
    ...lines.map(([name, value]) => `  ${name}: ${printable([value ?? '-'].flat().join(' '))}`),
    `  member-apps client approve ${option} ${id} ${read}\n`,
  ].join('\n')
}

export const approve = action(
  {
    about: 'approves a new client, or changes to a client or an app',
    declare: (line) =>
      subject(line)
        .requiredOption('--version <N>', VERSION)
        .option('--app-version <N>', "with --id: the version of the client's app"),
    async run(values, io) {
      const subject = toSubject(values)
      const version = parseNumber('version', values.version)!
      const appVersion = parseNumber('app-version', values.appVersion)
      if (subject.kind === 'app' && appVersion !== undefined) throw new UsageError('--app-version requires --id.')
      return decided(io, (db) => approveIn(db, { ...subject, version, appVersion }, new Date()))
    },
  },
  { json: '{ id, kind, isNew }', text: (done) => `Approved: ${describeDecided(done)}\n` },
)

export const refuse = action(
  {
    about: 'refuses it, with a reason',
    declare: (line) =>
      subject(line).requiredOption('--reason <TEXT>', 'what the team reads').option('--version <N>', VERSION),
    async run({ reason, ...values }, io) {
      const subject = toSubject(values)
      const version = parseNumber('version', values.version)
      const said = parseReason(reason)
      return decided(io, (db) => refuseIn(db, { ...subject, version }, said, new Date()))
    },
  },
  { json: '{ id, kind, isNew }', text: (done) => `Refused: ${describeDecided(done)}\n` },
)

type Decided = Pick<PendingReview, 'id' | 'kind' | 'isNew'>

async function decided(io: Io, change: (db: Database) => Promise<PendingReview>): Promise<Decided> {
  const { id, kind, isNew } = await withDatabase(io, change)
  return { id, kind, isNew }
}

const describeDecided = ({ id, kind, isNew }: Decided) =>
  `${isNew ? 'the new client' : `the changes to the ${kind}`} ${id}`

function toSubject({ id, app }: { id?: string | undefined; app?: string | undefined }): Subject {
  if ((id === undefined) === (app === undefined)) throw new UsageError('--id or --app is required.')
  return { kind: id === undefined ? 'app' : 'client', id: (id ?? app)! }
}
