import { afterAll } from 'vitest'
import type { AtEnd } from './databases.ts'

/** Registers what ends after the tests of a file or a `describe`, the last first. */
export function endAfterAll(): AtEnd {
  const ends: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const end of ends) await end()
  })
  return (end) => void ends.unshift(end)
}
