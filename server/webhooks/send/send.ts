import { admission } from './addresses.ts'
import { IdleAgent, singleUse } from './agent.ts'
import type { Answer } from './answer.ts'
import { retryAfterSeconds } from './answer.ts'
import type { Failure } from './exchange.ts'
import { exchange, failure } from './exchange.ts'
import { addressesOf, receiverOf } from './receiver.ts'
import type { Resolve } from './resolve.ts'
import { createResolve } from './resolve.ts'
import { signature } from './sign.ts'

export interface Message {
  /** Sent as `webhook-id`, the same with every try of a delivery. */
  id: string
  url: string
  /** Null: nothing is signed. */
  secret: string | null
  /** JSON */
  body: string
}

export interface Outcome {
  /** Of the answer; null when there was none. */
  status: number | null
  /** Null: delivered. Else a short text without address or secret: `status 500`, `timeout`, `address not public`, … */
  error: string | null
  /** The first 4 KB of the answer's body; null when there was no answer. */
  answer: string | null
  /** When the receiver wants the next try, 0 to 3600. */
  retryAfterSeconds: number | null
  /** The receiver wants nothing any more (410). */
  gone: boolean
}

export interface Sender {
  /** Tries once. Never rejects, and settles within 15 seconds. */
  send: (message: Message) => Promise<Outcome>
  /** Ends idle connections; what is being sent goes on. */
  close: () => void
}

const TIMES = {
  /** Name, TCP and TLS. */
  connectMs: 5_000,
  /** All of it, to the end of the answer. */
  totalMs: 15_000,
  /** How long a connection waits for the next delivery. Node's servers close theirs after 5 s. */
  idleMs: 4_000,
}

interface Options {
  /** Addresses and networks that are connected to though they are not public. */
  allow: readonly string[]
  /** In ms, for timestamps. */
  now: () => number
  /** The authority that is trusted in place of the well-known ones, as PEM. */
  ca?: string | undefined
  resolve?: Resolve
  timeouts?: Partial<typeof TIMES>
}

/** All of a name's addresses are checked, so there is an end to them. */
const MAX_CHECKED = 64

/** So many of them are tried. */
const MAX_TRIED = 4

/**
 * Sends deliveries over HTTPS to public addresses alone. A name's addresses are checked, and what is connected to is the
 * checked address itself: neither a second look at the name nor a redirect can lead elsewhere.
 */
export function createSender({ allow, now, ca, resolve = createResolve(), timeouts }: Options): Sender {
  const { connectMs, totalMs, idleMs } = { ...TIMES, ...timeouts }
  const admitted = admission(allow)
  const agent = new IdleAgent({ ca, idleMs })
  const fresh = singleUse(ca)

  const post = async (message: Message): Promise<Answer | Failure> => {
    const start = performance.now()
    const left = (ms: number) => Math.max(start + ms - performance.now(), 0)
    const receiver = receiverOf(message.url)
    if (!receiver) return failure('invalid url')
    const addresses = await addressesOf(receiver, resolve, connectMs)
    if (typeof addresses === 'string') return failure(addresses)
    if (addresses.length > MAX_CHECKED) return failure('too many addresses')
    // One that is not public refuses them all: whoever mixes them means harm.
    if (addresses.length === 0 || !addresses.every(admitted)) return failure('address not public')

    const content = { headers: headersOf(message, receiver.host, now()), body: message.body }
    const tried = addresses.slice(0, MAX_TRIED)
    let result: Answer | Failure = failure('connect timeout')
    for (const [index, address] of tried.entries()) {
      const target = { ...receiver, address }
      const share = left(connectMs) / (tried.length - index)
      result = await exchange(agent, target, content, { connectMs: share, totalMs: left(totalMs) })
      if ('stale' in result && result.stale) {
        result = await exchange(fresh, target, content, { connectMs, totalMs: left(totalMs) })
      }
      if (!('unreached' in result && result.unreached)) break
    }
    return result
  }

  return {
    // Node throws for what can be no header, as a secret with a line break.
    send: (message) =>
      post(message)
        .catch((error) => failure(`invalid request: ${error.code ?? error.name}`))
        .then((result) => outcomeOf(result, now())),
    close: () => agent.close(),
  }
}

function headersOf({ id, secret, body }: Message, host: string, now: number): Record<string, string | number> {
  const timestamp = Math.floor(now / 1_000)
  return {
    host,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': 'member-apps-api-webhooks/1',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    ...(secret !== null && { 'x-webhook-secret': secret, 'webhook-signature': signature(secret, id, timestamp, body) }),
  }
}

function outcomeOf(result: Answer | Failure, now: number): Outcome {
  if ('error' in result) {
    return { status: null, error: result.error, answer: null, retryAfterSeconds: null, gone: false }
  }
  const { status, text, retryAfter } = result
  if (status >= 200 && status < 300) return { status, error: null, answer: text, retryAfterSeconds: null, gone: false }
  return {
    status,
    error: status >= 300 && status < 400 ? `redirect ${status}` : `status ${status}`,
    answer: text,
    retryAfterSeconds: retryAfterSeconds(retryAfter, now),
    gone: status === 410,
  }
}
