import { page } from './page.ts'

/** Longer than work under the lock may take. */
const LIMIT_MS = 15_000

/** Runs the work in one of the app's tabs at a time. A frozen tab may hold the lock forever: after a while it is taken away. */
export async function inOneTab<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const { locks } = page.navigator
  if (!locks) return work()
  let begun: Promise<Result> | undefined
  const begin = () => {
    begun = work()
    return begun
  }
  const waiting = new AbortController()
  const timer = setTimeout(() => waiting.abort(), LIMIT_MS)
  // Once begun, its result counts, even when another tab has taken the lock.
  await locks.request(name, { signal: waiting.signal }, begin).catch(async () => {
    if (!begun) await locks.request(name, { steal: true }, begin).catch(() => {})
  })
  clearTimeout(timer)
  return begun ?? work()
}
