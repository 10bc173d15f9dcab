import { page } from './page.ts'

/** Longer than work under the lock may take. */
const LIMIT_MS = 15_000

/** The last work of each name on this page, for browsers without locks. */
const last = new Map<string, Promise<unknown>>()

/**
 * Runs the work in one of the app's tabs at a time. A frozen tab may hold the lock forever: after a while it is taken away. Without
 * locks (before 2022, and in a sandboxed frame) it runs once at a time in this page.
 */
export async function inOneTab<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const locks = page.navigator?.locks
  if (!locks || typeof AbortController === 'undefined') return inThisPage(name, work)
  let begun: Promise<Result> | undefined
  const begin = () => {
    begun = work()
    return begun
  }
  const waiting = new AbortController()
  const timer = setTimeout(() => waiting.abort(), LIMIT_MS)
  // Once begun, its result counts, even when another tab has taken the lock.
  await locks.request(name, { signal: waiting.signal }, begin).catch(async () => {
    if (!begun && waiting.signal.aborted) await locks.request(name, { steal: true }, begin).catch(() => {})
  })
  clearTimeout(timer)
  return begun ?? inThisPage(name, work)
}

function inThisPage<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const run = (last.get(name) ?? Promise.resolve()).then(work, work)
  last.set(name, run)
  return run
}
