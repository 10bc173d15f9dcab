import { randomUUID } from 'node:crypto'
import { parseUrl } from '../../../prisma/parse-url.ts'
import { ApiError } from '../../../routers/kernel/errors.ts'
import { formatBody } from '../../../routers/webhooks/deliveries/request.ts'
import { readExample } from '../../../routers/webhooks/event-catalogue.ts'
import { eventTypes, testEventType } from '../../../routers/webhooks/event-types.ts'
import { EVENT_TYPE } from '../../../routers/webhooks/rules.ts'
import type { Command, Io } from '../line/command.ts'
import { action, UsageError } from '../line/command.ts'
import { withDatabase } from '../line/database.ts'
import { printableLines } from '../line/table.ts'
import type { Attempt } from './attempt.ts'
import { attempt } from './attempt.ts'

/** Receivers should refuse messages older than 5 minutes. */
const OLD_MS = 600_000

const send = action(
  {
    about: 'sends an event to a receiver as the service would, without a service',
    declare: (line) =>
      line
        .requiredOption('--to <URL>', 'the address of the receiver, also on this machine and over http')
        .option('--secret <S>', 'signs the event')
        .option('--type <TYPE>', `the event type, by default ${testEventType.type}`)
        .option('--data <JSON>', 'its data, by default the example of the catalogue')
        .option('--provider <ID>', 'takes as data the example that this provider has described')
        .option('--wrong-signature', 'signs with another secret, and expects 4xx')
        .option('--old', 'signs with a time 10 minutes ago, and expects 4xx')
        .option(
          '--twice',
          'sends it again, as after a lost response: a receiver should accept it, but process it once',
        ),
    async run(values, io) {
      const { to, type = testEventType.type, secret = null, old = false, twice = false } = values
      const forged = values.wrongSignature === true
      const { protocol, username, password } = parseUrl(to) ?? { protocol: null }
      if (protocol !== 'http:' && protocol !== 'https:') throw new UsageError('--to must be an http or https address.')
      if (username || password) throw new UsageError('--to must have no user name or password.')
      if (!EVENT_TYPE.test(type)) throw new UsageError("--type must be 1 to 128 letters, digits, '.', '_' or '-'.")
      if (secret !== null && !/^[!-~]{1,1024}$/.test(secret)) {
        throw new UsageError('--secret must be 1 to 1024 visible ASCII characters, without spaces.')
      }
      if (values.provider && values.data !== undefined) {
        throw new UsageError('--provider supplies the data: omit --data.')
      }
      if (secret === null && (forged || old)) throw new UsageError('--wrong-signature and --old require --secret.')
      const data = values.provider ? await described(io, values.provider, type) : readData(type, values.data)
      const body = formatBody({ id: randomUUID(), type, publishedAt: new Date().toISOString() }, data)
      const message = { id: randomUUID(), url: to, body, secret: forged ? `not-${secret}` : secret }

      const expected: Attempt['outcome'] = forged || old ? 'refused' : 'accepted'
      const attempts: Attempt[] = []
      for (let sent = 0; sent < (twice ? 2 : 1); sent++) {
        const made = await attempt(message, Date.now() - (old ? OLD_MS : 0))
        io.stdout.write(formatLine(message.id, made))
        attempts.push(made)
      }
      return { id: message.id, expected, attempts }
    },
  },
  {
    json: '{ id, expected, attempts }',
    // Each attempt has been written when it ended.
    text: () => '',
    fault: ({ expected, attempts }) =>
      attempts.every(({ outcome }) => outcome === expected) ? undefined : `The receiver should have ${expected} this.`,
  },
)

/** The example of a described event type, as JSON text. Throws a sentence for an unknown one. */
const described = (io: Io, provider: string, type: string) =>
  withDatabase(io, (db) =>
    readExample(db, provider, type).catch((error) => {
      throw error instanceof ApiError ? new Error(`No event type ${type} is described for ${provider}.`) : error
    }),
  )

/** JSON text: the given data, or the event catalogue's example. */
function readData(type: string, given: string | undefined): string {
  if (given === undefined) return JSON.stringify(eventTypes.find((one) => one.type === type)?.example ?? {})
  try {
    JSON.parse(given)
  } catch {
    throw new UsageError('--data must be JSON.')
  }
  return given.trim()
}

const formatLine = (id: string, { status, milliseconds, answer }: Attempt) =>
  status === null
    ? `${id}: no response ${answer}\n`
    : `${id}: ${status} in ${milliseconds} ms${answer === '' ? '' : `\n${printableLines(answer)}`}\n`

export const command: Command = {
  about: 'Fails when the receiver does not answer as it should: 2xx, but 4xx with --wrong-signature or --old.',
  actions: { send },
  examples: [
    'webhook send --to http://127.0.0.1:4000/hook --secret S',
    `webhook send --to http://127.0.0.1:4000/hook --secret S --type member.joined --data '{"member":"anna"}' --twice`,
    'webhook send --to http://127.0.0.1:4000/hook --secret S --wrong-signature --json',
  ],
}
