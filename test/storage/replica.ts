import { expect } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import type { Position } from '../../routers/storage/changes.ts'
import { readChanges } from '../../routers/storage/changes.ts'
import type { Collection } from '../../routers/storage/statements.ts'

const noReserve = async () => {}

export const page = (db: Database, of: Collection, since?: Position, limit = 200) =>
  readChanges(db, of, { since, limit }, noReserve)

/** A copy of a collection that knows nothing but its changes, each key at most once on a page. */
export function createReplica(db: Database, of: Collection, limit: number) {
  const entries = new Map<string, { value: string; version: string }>()
  let since: Position | undefined
  const read = async () => {
    const { changes, next, more } = await page(db, of, since, limit)
    expect(new Set(changes.map(({ key }) => key)).size).toBe(changes.length)
    for (const { key, value, version } of changes) {
      if (value === null) entries.delete(key)
      else entries.set(key, { value, version })
    }
    since = next
    return more
  }
  return {
    /** Reads one page; false when there was no more to read. */
    read,
    async catchUp() {
      while (await read());
    },
    state: () => Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** What the collection holds, in the same form. */
export async function storedState(db: Database, { app: appId, club: clubId, owner, collection }: Collection) {
  const rows = await db.storageEntry.findMany({
    where: { appId, clubId, owner, collection },
    orderBy: { key: 'asc' },
  })
  return Object.fromEntries(rows.map(({ key, value, version }) => [key, { value, version }]))
}
