import { afterAll, beforeAll } from 'vitest'
import type { World } from './world.ts'
import { startWorld } from './world.ts'

type Closable = { close: () => unknown }

/** Starts something before the tests of a file or a `describe`, and closes it after them. Its fields are there within them. */
export function started<T extends Closable>(start: () => Promise<T>): T
export function started<T extends object>(start: () => Promise<T>, close: (one: T) => unknown): T
export function started(start: () => Promise<object>, close = (one: object): unknown => (one as Closable).close()) {
  const one = {}
  // With its getters: those of a service at an address skip the test that reads them.
  beforeAll(async () => void Object.defineProperties(one, Object.getOwnPropertyDescriptors(await start())))
  afterAll(async () => void (await close(one)))
  return one
}

export const useWorld = (options?: Parameters<typeof startWorld>[0]) => started(() => startWorld(options))

/** The same of what is made around a world. */
export const startedAround = <T extends { world: World }>(start: () => Promise<T>) =>
  started(start, ({ world }) => world.close())
