import type { Transactional } from '../../prisma/pg/execute.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { int, nullable, statement, text } from '../../prisma/pg/statement.ts'
import { lockStore } from './usage.ts'

interface Store {
  app: string
  club: string
}

interface Amount {
  entries: number
  bytes: number
}

/** Entries per statement, which fit into the statement timeout of 5 s. */
export const ENTRIES = 10_000

/**
 * Changes, or requests, per statement. Each reads past those that its transaction has removed before: 4 million took 34 s, the
 * longest statement 1.3 s, and several minutes with 10,000.
 */
const LOGGED = 100_000

/**
 * At most `limit` rows of one store at a time, as its rows may be distributed by club. By ctid: a join by key reads the store again
 * for each row, where the table has no statistics.
 */
const portionOfStore = (name: string, table: string) =>
  statement(
    `store_${name}`,
    `WITH gone AS (DELETE FROM ${table} WHERE "clubId" = $club AND ctid = ANY (ARRAY(
      SELECT ctid FROM ${table} WHERE "appId" = $app AND "clubId" = $club LIMIT $limit::int8)) RETURNING 1)
    SELECT count(*) AS removed FROM gone`,
    { app: text, club: text, limit: int },
    { removed: int },
  )

/** The trigger of a usage row's removal removes changes and requests in one statement, which 4 million would end: they go before. */
export const portions = {
  entries: portionOfStore('entries', '"StorageEntry"'),
  changes: portionOfStore('changes', '"StorageChange"'),
  requests: portionOfStore('requests', '"StorageRequest"'),
  usage: portionOfStore('usage', '"StorageUsage"'),
}

/** Without its usage row, which is the lock, the removal of a store's entries adds no changes. Readers begin again. */
export async function removeUsage(tx: Transactional, store: Store, limit = LOGGED): Promise<void> {
  await lockStore(tx, store)
  for (const part of [portions.changes, portions.requests, portions.usage]) {
    while ((await executeIn(tx, part, { ...store, limit }))[0]!.removed > 0) {}
  }
}

const some = statement(
  'storage_remove_some',
  `WITH removed AS (DELETE FROM "StorageEntry" WHERE "clubId" = $club AND ctid = ANY (ARRAY(
      SELECT ctid FROM "StorageEntry"
      WHERE "appId" = $app AND "clubId" = $club AND ($member::text IS NULL OR "memberId" = $member) LIMIT $limit::int8
    )) RETURNING octet_length(value) AS bytes)
    SELECT count(*) AS entries, coalesce(sum(bytes), 0)::int8 AS bytes FROM removed`,
  { app: text, club: text, member: nullable(text), limit: int },
  { entries: int, bytes: int },
)

/** Removes the entries of a store, or only a member's. The store is locked. */
export async function removeEntries(
  tx: Transactional,
  { app, club, member = null }: Store & { member?: string | null | undefined },
): Promise<Amount> {
  const removed = { entries: 0, bytes: 0 }
  for (;;) {
    const [amount] = await executeIn(tx, some, { app, club, member, limit: ENTRIES })
    if (amount!.entries === 0) return removed
    removed.entries += amount!.entries
    removed.bytes += amount!.bytes
  }
}
