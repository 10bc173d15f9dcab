import { LRUCache } from 'lru-cache'
import type { Limits } from '../../limits/limit.ts'
import { requestLimit } from '../../limits/limit.ts'
import type { Get } from '../../outgoing/get.ts'
import { DocumentRefused, isUsableAddress, parseDocument } from './client-document.ts'

const MAX_BYTES = 5 * 1024
/** Documents that requests from a network, and from all of them at a host, have read in a minute. */
const MAX_READS = { network: 30, host: 60 } as const
const MAX_AT_ONCE = 20
const CACHED = { min: 60, max: 3_600 }
/** How long a document that cannot be used is not asked for again. */
const REFUSED_MS = 30_000
/** How long the last good one stands in for one that cannot be read: apps renew their tokens while its host is down. */
const FORMER_MS = 86_400_000
const TOO_MANY = 'too many documents were read: try again in a minute'

/** A document as it was read last. */
interface Former {
  metadata: string
  readAt: number
  /** It is not read again before. */
  until: number
}

export interface DocumentSettings {
  get: Get
  /** The bounds of oidc-provider's cache, in seconds. */
  cached?: { min: number; max: number }
}

export type ClientDocuments = ReturnType<typeof clientDocuments>

/**
 * Reads client ID metadata documents for oidc-provider, which caches them. Anybody can ask for them, at any address. `now` is of
 * a clock that is never set back.
 */
export function clientDocuments({
  get,
  cached = CACHED,
  now,
  limits,
}: DocumentSettings & { now: () => number; limits: Limits }) {
  const clock = { ttlResolution: 0, perf: { now } }
  const refused = new LRUCache<string, string>({ ...clock, max: 1_000, ttl: REFUSED_MS })
  const former = new LRUCache<string, Former>({ ...clock, max: 200, ttl: FORMER_MS })
  const mayAsk = requestLimit(limits, 'client-documents', MAX_READS.network)
  const mayBeAsked = requestLimit(limits, 'client-document-hosts', MAX_READS.host)
  let reading = 0

  const rest = (former: Former) => {
    former.until = now() + cached.min * 1_000
    return toResponse(former.metadata)
  }

  const load = async (address: string, signal: AbortSignal) => {
    // Without the reason, which would tell about addresses that only this machine can see.
    const answer = await get(address, MAX_BYTES, signal).catch(() => null)
    const last = former.get(address)
    if ((answer === null || answer.status >= 500) && last !== undefined) return rest(last)
    if (answer === null) throw new DocumentRefused('it cannot be read from a public address, or has more than 5 KiB')
    const { status, headers, text } = answer
    if (status !== 200) throw new DocumentRefused(`its status is ${status}`)
    if (!isJson(headers['content-type'])) throw new DocumentRefused('it is not application/json')
    const metadata = JSON.stringify(parseDocument(address, text))
    const readAt = now()
    former.set(address, { metadata, readAt, until: readAt + cached.min * 1_000 })
    return toResponse(metadata, headers['cache-control'])
  }

  return {
    cached,
    /** Why a document is not read for a request from this network, undefined for a member's own page; null: it may be. */
    async findRefusal(address: string, network: string | undefined): Promise<string | null> {
      if (!isUsableAddress(address)) return 'its address is not usable'
      const reason = refused.get(address)
      if (reason !== undefined) return reason
      const last = former.get(address)
      if (last && now() < last.until) return null
      const isWithin = network === undefined || (await mayAsk(network))
      if (isWithin && reading < MAX_AT_ONCE && (await mayBeAsked(new URL(address).host))) return null
      // Others, who ask for many documents, keep nobody from one that a cache may still have.
      if (!last || now() >= last.readAt + cached.max * 1_000) return TOO_MANY
      rest(last)
      return null
    },

    /** A response with the metadata of the document's client. Rejects with DocumentRefused. */
    async fetch(address: string, signal: AbortSignal): Promise<Response> {
      const last = former.get(address)
      // oidc-provider's cache has fewer.
      if (last && now() < last.until) return toResponse(last.metadata)
      reading++
      try {
        return await load(address, signal)
      } catch (error) {
        former.delete(address)
        refused.set(address, (error as Error).message)
        throw error
      } finally {
        reading--
      }
    },
  }
}

const isJson = (type = '') => /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type)

const toResponse = (metadata: string, cacheControl = '') =>
  new Response(metadata, { headers: { 'cache-control': cacheControl } })
