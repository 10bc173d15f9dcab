import type { Context, Core, SharedMemory } from '../kernel/context.ts'
import type { Held } from '../kernel/shared-readings.ts'
import type { ChangePage, Position } from '../storage/changes.ts'
import { readChanges } from '../storage/changes.ts'
import type { Collection } from '../storage/statements.ts'

interface Wanted {
  since: Position | undefined
  limit: number
  /** The round of the watch. */
  round: number
}

interface Streamed extends Wanted {
  /** As for `readChanges`. */
  pageBytes: number
  freeBytes: number
  /** Reserved before the page is read. */
  expectedBytes: number
}

const toKey = (
  { app, club, owner, collection }: Collection,
  { since, limit, round, pageBytes }: Wanted & { pageBytes?: number },
) => JSON.stringify([round, limit, pageBytes, app, club, owner, collection, since?.number, since?.after])

/**
 * Reads and renders a page once for all calls of a node that want the same, such as those that one change has woken. Its memory is
 * reserved until the last of them releases it.
 */
export function sharedChanges<Page>(
  { core, call }: Context,
  at: Collection,
  wanted: Streamed,
  render: (found: ChangePage) => Page | Promise<Page>,
): Promise<Held<Page>> {
  const { since, limit, pageBytes, freeBytes, expectedBytes } = wanted
  return core.readings.take(toKey(at, wanted), async () => {
    let reserved = 0
    let memory: SharedMemory | undefined
    const release = () => memory?.shrinkTo(0)
    // All at once, as two pages that wait for more memory while they hold some would wait for each other.
    const reserve = async (bytes: number) => {
      release()
      reserved += bytes
      memory = await call.reserveShared(reserved)
    }
    try {
      if (expectedBytes > 0) await reserve(expectedBytes)
      const found = await readChanges(
        core.db,
        at,
        { since, limit, pageBytes, freeBytes: Math.max(freeBytes, reserved) },
        reserve,
      )
      const page = await render(found)
      memory?.shrinkTo(found.bytes)
      return { page, end: release }
    } catch (error) {
      release()
      throw error
    }
  })
}

class TooLarge extends Error {}

/**
 * The same for a page of up to a megabyte, which needs no reservation; null for a larger one. Each call reads that itself, when
 * it has memory for the page and its answer: calls that waited for the second while they hold the first would wait for each other.
 */
export async function sharedSmallChanges(
  { db, readings }: Pick<Core, 'db' | 'readings'>,
  at: Collection,
  wanted: Wanted,
): Promise<ChangePage | null> {
  const reserve = () => Promise.reject(new TooLarge())
  const held = await readings.take(toKey(at, wanted), async () => {
    const page = await readChanges(db, at, wanted, reserve).catch((thrown: unknown) => {
      if (thrown instanceof TooLarge) return null
      throw thrown
    })
    return { page, end: () => {} }
  })
  const { page } = held
  held.release()
  return page
}
