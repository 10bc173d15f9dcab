import { page } from './page.ts'

/** Longer than what is done under the lock may take. */
const LIMIT_MS = 15_000

/**
 * Does the work in one tab of the app at a time. A tab that was frozen may keep the lock for ever: after a while it is taken
 * from it.
 */
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
  // Once begun, its result counts, also when another tab has taken the lock from this one.
  await locks.request(name, { signal: waiting.signal }, begin).catch(async () => {
    if (!begun) await locks.request(name, { steal: true }, begin).catch(() => {})
  })
  clearTimeout(timer)
  return begun ?? work()
}
