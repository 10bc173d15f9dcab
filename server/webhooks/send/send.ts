import { addressFilter } from '../../outgoing/addresses.ts'
import { IdleAgent, singleUseAgent } from '../../outgoing/agent.ts'
import { findAddresses, parseReceiver } from '../../outgoing/receiver.ts'
import type { Resolve } from '../../outgoing/resolve.ts'
import { createResolve } from '../../outgoing/resolve.ts'
import { exchange } from './exchange.ts'
import type { Message } from './message.ts'
import { buildHeaders } from './message.ts'
import type { AttemptResult } from './response.ts'
import { noResponse } from './response.ts'

export interface Sender {
  /** Sends a message once. Never rejects; settles within 15 seconds. */
  send: (message: Message) => Promise<AttemptResult>
  /** Closes idle connections; messages being sent are finished. */
  close: () => void
}

export const TIMEOUTS = {
  /** Name, TCP and TLS. */
  connectMs: 5_000,
  /** Everything, to the end of the response. */
  totalMs: 15_000,
  /** How long a connection stays open for the next message. Node's servers close theirs after 5 s. */
  idleMs: 4_000,
}

interface Options {
  /** Addresses and networks that may be connected to although they are not public. */
  allow: readonly string[]
  /** Unix time in milliseconds. */
  now: () => number
  /** The certificate authority to trust instead of the well-known ones, as PEM. */
  ca?: string | undefined
  resolve?: Resolve
  timeouts?: Partial<typeof TIMEOUTS>
}

const MAX_TRIED = 4

/**
 * Sends messages over HTTPS to public addresses only. The checked address itself is connected to, so neither a second name lookup
 * nor a redirect can lead elsewhere.
 */
export function createSender({ allow, now, ca, resolve = createResolve(), timeouts }: Options): Sender {
  const { connectMs, totalMs, idleMs } = { ...TIMEOUTS, ...timeouts }
  const isAllowed = addressFilter(allow)
  const agent = new IdleAgent({ ca, idleMs })
  const newConnection = singleUseAgent(ca)

  async function post(message: Message): Promise<AttemptResult> {
    const start = performance.now()
    const left = (ms: number) => Math.max(start + ms - performance.now(), 0)
    const receiver = parseReceiver(message.url)
    if (!receiver) return noResponse('invalid url')
    const addresses = await findAddresses(receiver, { resolve, isAllowed }, connectMs)
    if (typeof addresses === 'string') return noResponse(addresses)

    const content = { headers: buildHeaders(message, receiver.host, message.at ?? now()), body: message.body }
    const tried = addresses.slice(0, MAX_TRIED)
    let result = noResponse('connect timeout')
    for (const [index, address] of tried.entries()) {
      const target = { ...receiver, address }
      const share = left(connectMs) / (tried.length - index)
      let last = await exchange(agent, target, content, { connectMs: share, totalMs: left(totalMs), now })
      if (last.fallback === 'new connection') {
        last = await exchange(newConnection, target, content, { connectMs, totalMs: left(totalMs), now })
      }
      result = last.result
      if (last.fallback !== 'next address') break
    }
    return result
  }

  return {
    // Node throws when a value is not a valid header, such as a secret with a line break.
    send: (message) => post(message).catch((error) => noResponse(`invalid request: ${error.code ?? error.name}`)),
    close: () => agent.close(),
  }
}
