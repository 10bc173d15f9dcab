import type { Context, SharedMemory } from '../kernel/context.ts'
import { LARGE_BYTES } from '../kernel/read-within.ts'
import type { Held } from '../kernel/shared-readings.ts'
import type { ChangePage, Position } from '../storage/changes.ts'
import { readChanges } from '../storage/changes.ts'
import type { Collection } from '../storage/statements.ts'

interface Wanted {
  since: Position | undefined
  limit: number
  /** As for `readChanges`. */
  pageBytes?: number | undefined
  freeBytes?: number
  /** Reserved before the page is read. */
  expectedBytes?: number
  /** The round of the watch. */
  round: number
}

/**
 * Reads and renders a page once for all calls of a node that want the same, such as those that one change has woken. Its memory is
 * reserved until the last of them releases it.
 */
export function sharedChanges<Page>(
  { core, call }: Context,
  at: Collection,
  { since, limit, pageBytes, freeBytes = LARGE_BYTES, expectedBytes = 0, round }: Wanted,
  render: (found: ChangePage) => Page | Promise<Page>,
): Promise<Held<Page>> {
  const { app, club, owner, collection } = at
  const key = JSON.stringify([round, limit, pageBytes, app, club, owner, collection, since?.number, since?.after])
  return core.readings.take(key, async () => {
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
      const wanted = { since, limit, pageBytes, freeBytes: Math.max(freeBytes, reserved) }
      const found = await readChanges(core.db, at, wanted, reserve)
      const page = await render(found)
      memory?.shrinkTo(found.bytes)
      return { page, end: release }
    } catch (error) {
      release()
      throw error
    }
  })
}
