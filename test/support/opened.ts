import { afterAll, beforeAll } from 'vitest'
import type { World } from './world.ts'
import { startWorld } from './world.ts'

/** For all tests of a file: what `open` resolves to before them, closed after them. */
export function opened<T extends object>(open: () => Promise<T>, close: (one: T) => unknown): T {
  const one = {} as T
  beforeAll(async () => void Object.assign(one, await open()))
  afterAll(async () => void (await close(one)))
  return one
}

/** The same of a world, and of what is made around one. */
export const openedWith = <T extends { world: World }>(open: () => Promise<T>) =>
  opened(open, ({ world }) => world.close())

export const testWorld = (...options: Parameters<typeof startWorld>) =>
  opened(
    () => startWorld(...options),
    (world) => world.close(),
  )
