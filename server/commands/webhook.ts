import { randomUUID } from 'node:crypto'
import { ApiError } from '../../routers/kernel/errors.ts'
import { bodyOf } from '../../routers/webhooks/deliveries/request.ts'
import { exampleOf } from '../../routers/webhooks/event-catalogue.ts'
import { eventKinds, testKind } from '../../routers/webhooks/event-kinds.ts'
import { EVENT_TYPE } from '../../routers/webhooks/rules.ts'
import type { Message } from '../webhooks/send/message.ts'
import { headersOf } from '../webhooks/send/message.ts'
import type { Command, Io } from './command.ts'
import { action, UsageError } from './command.ts'
import { withDatabase } from './database.ts'
import { flag, required, text } from './option.ts'
import { printableLines } from './printable.ts'

/** Receivers should refuse messages older than 5 minutes. */
const OLD_MS = 600_000
const TIMEOUT_MS = 15_000
const SHOWN_CHARACTERS = 1_000

const send = action(
  {
    options: {
      to: required(text('URL', 'the address of the receiver, also on this machine and over http')),
      secret: text('S', 'signs the event'),
      type: text('TYPE', `the event type, by default ${testKind.type}`),
      data: text("'{}'", 'its data as JSON, by default the example of the catalogue'),
      provider: text('ID', 'takes as data the example that this provider has described'),
      'wrong-signature': flag('signs with another secret, and expects 4xx'),
      old: flag('signs with a time 10 minutes ago, and expects 4xx'),
      twice: flag('sends it again, as after a lost response: a receiver should accept it, but process it once'),
    },
    async run(values, io) {
      const { to, type = testKind.type, secret = null, old = false, twice = false } = values
      const forged = values['wrong-signature'] === true
      if (!/^https?:$/.test(URL.canParse(to) ? new URL(to).protocol : ''))
        throw new UsageError('--to must be an http or https address.')
      if (!EVENT_TYPE.test(type)) throw new UsageError("--type must be 1 to 128 letters, digits, '.', '_' or '-'.")
      if (secret !== null && !/^[!-~]{1,1024}$/.test(secret)) {
        throw new UsageError('--secret must be 1 to 1024 visible ASCII characters, without spaces.')
      }
      if (values.provider && values.data !== undefined) {
        throw new UsageError('--provider supplies the data: omit --data.')
      }
      if (secret === null && (forged || old)) throw new UsageError('--wrong-signature and --old require --secret.')
      const data = values.provider ? await described(io, values.provider, type) : dataOf(type, values.data)
      const body = bodyOf({ id: randomUUID(), type, publishedAt: new Date().toISOString() }, data)
      const message = { id: randomUUID(), url: to, body, secret: forged ? `not-${secret}` : secret }

      const expected: Outcome = forged || old ? 'refused' : 'accepted'
      const attempts: Attempt[] = []
      for (let sent = 0; sent < (twice ? 2 : 1); sent++) {
        const attempt = await post(message, Date.now() - (old ? OLD_MS : 0))
        io.stdout.write(lineOf(message.id, attempt))
        attempts.push(attempt)
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

interface Attempt {
  outcome: Outcome
  /** Null when there was no response. */
  status: number | null
  milliseconds: number
  /** The first characters of the response, or the reason for its absence. */
  answer: string
}

async function post(message: Message, at: number): Promise<Attempt> {
  const { host: _, 'content-length': __, ...headers } = headersOf(message, '', at)
  const named = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)])
  const start = performance.now()
  const milliseconds = () => Math.round(performance.now() - start)
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const response = await fetch(message.url, {
      ...{ method: 'POST', headers: named, body: message.body, redirect: 'manual', signal },
    })
    const { ok, status } = response
    const answer = (await response.text()).trim().slice(0, SHOWN_CHARACTERS)
    const outcome = ok ? 'accepted' : status >= 400 && status < 500 ? 'refused' : 'neither'
    return { outcome, status, milliseconds: milliseconds(), answer }
  } catch (error) {
    const { code } = ((error as Error).cause ?? error) as { code?: unknown }
    const answer = signal.aborted ? `within ${TIMEOUT_MS / 1_000} s` : `(${code ?? (error as Error).message})`
    return { outcome: 'neither', status: null, milliseconds: milliseconds(), answer }
  }
}

const lineOf = (id: string, { status, milliseconds, answer }: Attempt) =>
  status === null
    ? `${id}: no response ${answer}\n`
    : `${id}: ${status} in ${milliseconds} ms${answer === '' ? '' : `\n${printableLines(answer)}`}\n`

export const command: Command = {
  about: `Sends an event to a receiver as the service would, without a service. Fails when the receiver does not answer as it should:
2xx, but 4xx with --wrong-signature or --old.`,
  actions: { send },
  examples: [
    'webhook send --to http://127.0.0.1:4000/hook --secret S',
    `webhook send --to http://127.0.0.1:4000/hook --secret S --type member.joined --data '{"member":"anna"}' --twice`,
    'webhook send --to http://127.0.0.1:4000/hook --secret S --wrong-signature --json',
  ],
}
