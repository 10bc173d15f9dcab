import type { LookupAddress } from 'node:dns'
import { promises as dns } from 'node:dns'
import { Semaphore, withTimeout } from 'async-mutex'
import { LRUCache } from 'lru-cache'

/** The addresses of a name; rejects with an error that has a `code`, as node's DNS errors have. */
export type Resolve = (name: string) => Promise<readonly string[]>

interface Options {
  /** Name servers, `address:port`; unset: the system's. */
  servers?: readonly string[]
  /** The system's own way, in threads of which there are few. */
  lookup?: (name: string, options: { all: true }) => Promise<LookupAddress[]>
  /** One question (the second try waits longer), and all of it. */
  askMs?: number
  wholeMs?: number
}

/** For so long an answer is used again. It was checked, and is what is connected to, so nothing slips in meanwhile. */
const KEPT_MS = 5_000

/** For so long the one kind of address waits for the other: some name servers never answer for IPv6. */
const GRACE_MS = 500

/** These say that the servers know no such name, or that there are none to ask. The system may still know it. */
const UNKNOWN = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED'])

const isLocal = (name: string) => /^(?:.+\.)?localhost\.?$/i.test(name)

const codeOf = (error: unknown) => (error as { code?: string }).code ?? 'unknown'

/**
 * Resolves names without holding up anybody else's. It asks the name servers itself, as the system's lookup blocks one
 * of a few threads for as long as a dead name server pleases. That one is asked for what only it knows (the hosts file,
 * search domains), one name at a time.
 */
export function createResolve({ servers, lookup = dns.lookup, askMs = 1_200, wholeMs = 4_000 }: Options = {}): Resolve {
  const kept = new LRUCache<string, Promise<readonly string[]>>({ max: 5_000, ttl: KEPT_MS })
  const turn = withTimeout(new Semaphore(1), wholeMs, Object.assign(new Error('busy'), { code: 'ETIMEOUT' }))

  /** A resolver of its own, which knows the servers of this moment, and whose questions can be given up together. */
  const ask = async (name: string) => {
    const resolver = new dns.Resolver({ timeout: askMs, tries: 2 })
    if (servers) resolver.setServers(servers)
    const giveUp = () => resolver.cancel()
    const timers = [setTimeout(giveUp, wholeMs)]
    const answered = (addresses: string[]) => {
      timers.push(setTimeout(giveUp, GRACE_MS))
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
    // RFC 6761: these names are this machine's, whatever a name server says.
    if (isLocal(name)) return ['127.0.0.1']
    const answers = await ask(name)
    const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    if (addresses.length > 0) return addresses
    const failure = answers.find((answer) => answer.status === 'rejected' && !UNKNOWN.has(codeOf(answer.reason)))
    if (failure?.status === 'rejected') throw failure.reason
    const found = await turn.runExclusive(() => lookup(name, { all: true }))
    return found.map(({ address }) => address)
  }

  return (name) => {
    const known = kept.get(name)
    if (known) return known
    const found = find(name)
    kept.set(name, found)
    found.catch(() => {
      if (kept.peek(name) === found) kept.delete(name)
    })
    return found
  }
}
