import type { LookupAddress } from 'node:dns'
import { promises as dns } from 'node:dns'
import { Semaphore, withTimeout } from 'async-mutex'
import { LRUCache } from 'lru-cache'

/** Rejects with an error that has a `code`, like Node's DNS errors. */
export type Resolve = (name: string) => Promise<readonly string[]>

interface Options {
  /** Name servers as `address:port`; by default the system's. */
  servers?: readonly string[]
  /** The system's lookup, which blocks one of Node's few threads. */
  lookup?: (name: string, options: { all: true }) => Promise<LookupAddress[]>
  /** Timeout of one query; the second attempt waits longer. */
  queryMs?: number
  totalMs?: number
}

/** Cache lifetime of addresses. Every use checks the very address that it connects to, so a cached one is as safe. */
const CACHE_MS = 5_000

/** How long the answer for one family waits for the other: some name servers never answer for IPv6. */
const GRACE_MS = 500

/** The name servers do not know the name, or cannot be asked. The system may still know it. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'])

const isLocal = (name: string) => /^(?:.+\.)?localhost\.?$/i.test(name)

const readErrorCode = (error: unknown) => (error as { code?: string }).code ?? 'unknown'

/**
 * Resolves names so that a dead name server delays only the names that it serves. It queries the name servers itself: the
 * system's lookup blocks one of Node's few threads until it times out. The system is asked only for names that the servers do not
 * know (hosts file, search domains), one at a time.
 */
export function createResolve({
  servers,
  lookup = dns.lookup,
  queryMs = 1_200,
  totalMs = 4_000,
}: Options = {}): Resolve {
  const cache = new LRUCache<string, Promise<readonly string[]>>({ max: 5_000, ttl: CACHE_MS })
  const oneLookup = withTimeout(new Semaphore(1), totalMs, Object.assign(new Error('busy'), { code: 'ETIMEOUT' }))

  /** A new resolver for each name: it reads the system's current servers, and `cancel` ends its own queries only. */
  const queryBoth = async (name: string) => {
    const resolver = new dns.Resolver({ timeout: queryMs, tries: 2 })
    if (servers) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    const timers = [setTimeout(cancel, totalMs)]
    const answered = (addresses: string[]) => {
      timers.push(setTimeout(cancel, GRACE_MS))
      return addresses
    }
    const answers = await Promise.allSettled([
      resolver.resolve4(name).then(answered),
      resolver.resolve6(name).then(answered),
    ])
    for (const timer of timers) clearTimeout(timer)
    return answers
  }

  const find = async (name: string): Promise<readonly string[]> => {
    // RFC 6761: these names are the local machine, whatever a name server says.
    if (isLocal(name)) return ['127.0.0.1']
    const answers = await queryBoth(name)
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const failure = answers.find((answer) => answer.status === 'rejected' && !UNKNOWN.has(readErrorCode(answer.reason)))
    if (failure?.status === 'rejected') throw failure.reason
    const found = await oneLookup.runExclusive(() => lookup(name, { all: true }))
    return found.map(({ address }) => address)
  }

  return (name) => {
    const cached = cache.get(name)
    if (cached) return cached
    const found = find(name)
    cache.set(name, found)
    found.catch(() => {
      if (cache.peek(name) === found) cache.delete(name)
    })
    return found
  }
}
