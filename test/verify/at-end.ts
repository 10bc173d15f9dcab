import { afterAll, beforeAll } from 'vitest'
import type { AtEnd } from '../support/databases.ts'

/** Runs what is registered after the tests of the file or the `describe`, the last one first. */
export function endingAfterAll(): AtEnd {
  const ends: (() => unknown)[] = []
  afterAll(async () => {
    for (const end of ends) await end()
  })
  return (end) => void ends.unshift(end)
}

/** Starts several things before the tests, and ends each of them after these, also when the start of a later one failed. */
export function startedTogether<T extends object>(start: (atEnd: AtEnd) => Promise<T>): T {
  const one = {} as T
  const atEnd = endingAfterAll()
  beforeAll(async () => void Object.assign(one, await start(atEnd)))
  return one
}
