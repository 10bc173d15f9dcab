import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'node:https'
import { addressFilter } from './addresses.ts'
import { singleUseAgent } from './agent.ts'
import { findAddresses, parseReceiver } from './receiver.ts'
import type { Resolve } from './resolve.ts'
import { createResolve } from './resolve.ts'
import { responseTo } from './response-to.ts'

export interface Answer {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

/** Rejects when there is no whole answer of at most `maxBytes` before the signal aborts. */
export type Get = (url: string, maxBytes: number, signal: AbortSignal) => Promise<Answer>

/** As a sender's: `allow` has further addresses and networks, `ca` the authority to trust instead of the well-known ones, as PEM. */
interface Options {
  allow: readonly string[]
  ca?: string
  resolve?: Resolve
}

const NAME_MS = 2_000
const MAX_HEADER_BYTES = 16_384

/** Reads JSON over HTTPS from public addresses only, by the rules of webhooks. A redirect is an answer like others. */
export function createGet({ allow, ca, resolve = createResolve() }: Options): Get {
  const rules = { resolve, isAllowed: addressFilter(allow) }
  const agent = singleUseAgent(ca)
  return async (url, maxBytes, signal) => {
    const receiver = parseReceiver(url)
    const addresses = receiver ? await findAddresses(receiver, rules, NAME_MS) : 'invalid url'
    if (typeof addresses === 'string') throw new Error(addresses)
    const { host, port, servername, path } = receiver!
    const headers = { host, accept: 'application/json' }
    const target = { host: addresses[0]!, port, servername, path, headers, setHost: false }
    const sent = request({ ...target, agent, maxHeaderSize: MAX_HEADER_BYTES, signal })
    try {
      const response = await responseTo(sent.end())
      const chunks: Buffer[] = []
      let size = 0
      for await (const chunk of response as AsyncIterable<Buffer>) {
        size += chunk.length
        if (size > maxBytes) throw new Error('too large')
        chunks.push(chunk)
      }
      return { status: response.statusCode!, headers: response.headers, text: Buffer.concat(chunks).toString() }
    } finally {
      sent.destroy()
    }
  }
}
