import type { Database, Transaction } from '../../prisma/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { int, nullable, statement, text } from '../../prisma/pg/statement.ts'
import { retryingDeadlocks } from '../../routers/kernel/database-errors.ts'
import { removeEntries, removeUsage } from '../../routers/storage/removal.ts'
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

const removeRequests = statement(
  'storage_remove_requests',
  'DELETE FROM "StorageRequest" WHERE "appId" = $app AND "clubId" = $club AND "memberId" = $member',
  { app: text, club: text, member: text },
  {},
)

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

/** `logged`: the changes of a whole storage per statement. */
export const erase = (db: Database, owner: StorageOwner, logged?: number): Promise<Amount> =>
  retryingDeadlocks(() => db.$transaction((tx) => remove(tx, owner, logged), { timeout: 30 * 60_000 }))

/** The usage row is the lock, as for writers; it is deleted before the entries when the whole storage is erased. */
async function remove(tx: Transaction, { app, club, member }: StorageOwner, logged?: number): Promise<Amount> {
  if (member === undefined) await removeUsage(tx, { app, club }, logged)
  else {
    await lockStore(tx, { app, club })
    await executeIn(tx, removeRequests, { app, club, member })
  }
  return removeEntries(tx, { app, club, member })
}
