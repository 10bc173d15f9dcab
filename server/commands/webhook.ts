import { randomUUID } from 'node:crypto'
import { ApiError } from '../../routers/kernel/errors.ts'
import { bodyOf } from '../../routers/webhooks/deliveries/request.ts'
import { exampleOf } from '../../routers/webhooks/event-catalogue.ts'
import { eventKinds, testKind } from '../../routers/webhooks/event-kinds.ts'
import { EVENT_TYPE } from '../../routers/webhooks/rules.ts'
import type { Message } from '../webhooks/send/message.ts'
import { headersOf } from '../webhooks/send/message.ts'
import { flag, parseAction, text } from './arguments.ts'
import type { Io } from './command.ts'
import { command, UsageError } from './command.ts'
import { withDatabase } from './database.ts'

const usage = `Usage:
  npm run -s webhook -- send --to http://127.0.0.1:4000/hook [--secret S] [--type webhook.test] [--data '{}']
                             [--provider ID] [--wrong-signature] [--old] [--twice]

Sends an event to a receiver as the service would, without a service, also to this machine and over http. Fails when the receiver
does not answer as it should: 2xx, but 4xx with --wrong-signature (another secret) or --old (10 minutes ago). With
--twice the same event is sent again, as after a lost response: a receiver should accept it, but process it once.
With --provider, data is the example that the service's database has for this event type of the provider.
`

const send = {
  to: text,
  secret: text,
  type: text,
  data: text,
  provider: text,
  'wrong-signature': flag,
  old: flag,
  twice: flag,
} as const

/** Receivers should refuse messages older than 5 minutes. */
const OLD_MS = 600_000
const TIMEOUT_MS = 15_000
const SHOWN_CHARACTERS = 1_000

export const run = command(usage, async (argv, io) => {
  const { values } = parseAction(argv, { send })
  const { to, type = testKind.type, secret = null, old = false, twice = false } = values
  const forged = values['wrong-signature'] === true
  if (!to || !/^https?:$/.test(URL.canParse(to) ? new URL(to).protocol : ''))
    throw new UsageError('--to must be an http or https address.')
  if (!EVENT_TYPE.test(type)) throw new UsageError("--type must be 1 to 128 letters, digits, '.', '_' or '-'.")
  if (secret !== null && !/^[!-~]{1,1024}$/.test(secret)) {
    throw new UsageError('--secret must be 1 to 1024 visible ASCII characters, without spaces.')
  }
  if (values.provider && values.data !== undefined) throw new UsageError('--provider supplies the data: omit --data.')
  if (secret === null && (forged || old)) throw new UsageError('--wrong-signature and --old require --secret.')
  const data = values.provider ? await described(io, values.provider, type) : dataOf(type, values.data)
  const body = bodyOf({ id: randomUUID(), type, publishedAt: new Date().toISOString() }, data)
  const message = { id: randomUUID(), url: to, body, secret: forged ? `not-${secret}` : secret }

  const expected = forged || old ? 'refused' : 'accepted'
  let asExpected = true
  for (let sent = 0; sent < (twice ? 2 : 1); sent++) {
    const outcome = await post(message, Date.now() - (old ? OLD_MS : 0), io)
    asExpected &&= outcome === expected
  }
  if (!asExpected) io.stderr.write(`The receiver should have ${expected} this.\n`)
  return asExpected ? 0 : 1
})

/** The example of a described event type, as JSON text. Throws a sentence for an unknown one. */
const described = (io: Io, provider: string, type: string) =>
  withDatabase(io, (db) =>
    exampleOf(db, provider, type).catch((error) => {
      throw error instanceof ApiError ? new Error(`No event type ${type} is described for ${provider}.`) : error
    }),
  )

/** JSON text: the given data, or the event catalogue's example. */
function dataOf(type: string, given: string | undefined): string {
  if (given === undefined) return JSON.stringify(eventKinds.find((kind) => kind.type === type)?.example ?? {})
  try {
    JSON.parse(given)
  } catch {
    throw new UsageError('--data must be JSON.')
  }
  return given.trim()
}

type Outcome = 'accepted' | 'refused' | 'neither'

async function post(message: Message, at: number, { stdout }: Io): Promise<Outcome> {
  const { host: _, 'content-length': __, ...headers } = headersOf(message, '', at)
  const named = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  const start = performance.now()
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const response = await fetch(message.url, {
      ...{ method: 'POST', headers: named, body: message.body, redirect: 'manual', signal },
    })
    const answer = (await response.text()).trim().slice(0, SHOWN_CHARACTERS)
    const ms = Math.round(performance.now() - start)
    stdout.write(`${message.id}: ${response.status} in ${ms} ms${answer === '' ? '' : `\n${answer}`}\n`)
    return response.ok ? 'accepted' : response.status >= 400 && response.status < 500 ? 'refused' : 'neither'
  } catch (error) {
    const { code } = ((error as Error).cause ?? error) as { code?: unknown }
    const reason = signal.aborted ? `within ${TIMEOUT_MS / 1_000} s` : `(${code ?? (error as Error).message})`
    stdout.write(`${message.id}: no response ${reason}\n`)
    return 'neither'
  }
}
