import type { Database, Transaction } from '../../prisma/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { int, nullable, statement, text } from '../../prisma/pg/statement.ts'
import { retryingDeadlocks } from '../../routers/kernel/database-errors.ts'
import { lockStore } from '../../routers/storage/usage.ts'

/** An app's storage in a club; with `member`, only that member's entries. */
export interface StorageOwner {
  app: string
  club: string
  member?: string | undefined
}

/** `bytes` are counted as for the quota. */
export interface Amount {
  entries: number
  bytes: number
}

const usage = statement(
  'storage_usage',
  `SELECT
      coalesce((SELECT bytes FROM "StorageUsage" WHERE "appId" = $app AND "clubId" = $club), 0) AS bytes,
      coalesce(sum(entries) FILTER (WHERE owner = ''), 0)::float8 AS "sharedEntries",
      coalesce(sum(bytes) FILTER (WHERE owner = ''), 0)::float8 AS "sharedBytes",
      coalesce(sum(entries) FILTER (WHERE owner <> ''), 0)::float8 AS "ownEntries",
      coalesce(sum(bytes) FILTER (WHERE owner <> ''), 0)::float8 AS "ownBytes",
      (count(*) FILTER (WHERE owner <> ''))::float8 AS members
    FROM (SELECT owner, count(*) AS entries, sum(octet_length(value)) AS bytes FROM "StorageEntry"
      WHERE "appId" = $app AND "clubId" = $club AND ($member::text IS NULL OR "memberId" = $member) GROUP BY owner) held`,
  { app: text, club: text, member: nullable(text) },
  { bytes: int, sharedEntries: int, sharedBytes: int, ownEntries: int, ownBytes: int, members: int },
)

/** Entries per statement, which fit into the statement timeout of 5 s. */
const BATCH = 10_000

const statements = {
  removeStore: statement(
    'storage_remove_store',
    'DELETE FROM "StorageUsage" WHERE "appId" = $app AND "clubId" = $club',
    { app: text, club: text },
    {},
  ),
  removeRequests: statement(
    'storage_remove_requests',
    'DELETE FROM "StorageRequest" WHERE "appId" = $app AND "clubId" = $club AND "memberId" = $member',
    { app: text, club: text, member: text },
    {},
  ),
  removeSome: statement(
    'storage_remove_some',
    `WITH removed AS (DELETE FROM "StorageEntry" WHERE "clubId" = $club AND ctid = ANY (ARRAY(
        SELECT ctid FROM "StorageEntry"
        WHERE "appId" = $app AND "clubId" = $club AND ($member::text IS NULL OR "memberId" = $member) LIMIT ${BATCH}
      )) RETURNING octet_length(value) AS bytes)
      SELECT count(*) AS entries, coalesce(sum(bytes), 0)::int8 AS bytes FROM removed`,
    { app: text, club: text, member: nullable(text) },
    { entries: int, bytes: int },
  ),
}

/** Reads one snapshot. `bytes` is the quota counter of the whole storage, also with `member`. */
export async function readUsage(db: Database, { app, club, member }: StorageOwner) {
  const [row] = await db.execute(usage, { app, club, member: member ?? null })
  const { bytes, sharedEntries, sharedBytes, ownEntries, ownBytes, members } = row!
  return {
    bytes,
    shared: { entries: sharedEntries, bytes: sharedBytes },
    own: { entries: ownEntries, bytes: ownBytes },
    members,
  }
}

/** Returns the first one that does not exist, else null. Former members exist, as their entries stay. */
export async function findMissing(db: Database, { app, club, member }: StorageOwner) {
  const select = { id: true }
  if (!(await db.app.findUnique({ where: { id: app }, select }))) return 'app'
  if (!(await db.organisation.findUnique({ where: { id: club, kind: 'club' }, select }))) return 'club'
  if (member === undefined) return null
  const of = { organisationId: club, personId: member }
  return (await db.membership.findUnique({ where: { of } })) ? null : 'member'
}

export const erase = (db: Database, owner: StorageOwner): Promise<Amount> =>
  retryingDeadlocks(() => db.$transaction((tx) => remove(tx, owner), { timeout: 30 * 60_000 }))

/** The usage row is the lock, as for writers; it is deleted first when the whole storage is erased. */
async function remove(tx: Transaction, { app, club, member }: StorageOwner): Promise<Amount> {
  if (member === undefined) await executeIn(tx, statements.removeStore, { app, club })
  else {
    await lockStore(tx, { app, club })
    await executeIn(tx, statements.removeRequests, { app, club, member })
  }

  const removed = { entries: 0, bytes: 0 }
  for (;;) {
    const { entries, bytes } = await removeSome(tx, { app, club, member })
    if (entries === 0) return removed
    removed.entries += entries
    removed.bytes += bytes
  }
}

async function removeSome(tx: Transaction, { app, club, member }: StorageOwner): Promise<Amount> {
  const [amount] = await executeIn(tx, statements.removeSome, { app, club, member: member ?? null })
  return amount!
}
