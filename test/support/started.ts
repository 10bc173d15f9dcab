import { afterAll, beforeAll } from 'vitest'
import { startWorld } from './world.ts'

/** Starts something before the tests of a file or a `describe`, and closes it after them. Its fields are there within them. */
export function started<T extends { close: () => unknown }>(start: () => Promise<T>): T {
  const one = {} as T
  beforeAll(async () => void Object.assign(one, await start()))
  afterAll(async () => void (await one.close()))
  return one
}

export const useWorld = (options?: Parameters<typeof startWorld>[0]) => started(() => startWorld(options))
