import type { Database } from '../../prisma/client.ts'
import type { Transactional } from '../../prisma/pg/execute.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { bool, int, nullable, statement, text, texts } from '../../prisma/pg/statement.ts'
import type { Call } from '../kernel/context.ts'
import type { Collection, Conditions } from './statements.ts'

export function setUsage({ setHeader }: Call, used: number, quotaBytes: number) {
  setHeader('X-Storage-Used', String(used))
  setHeader('X-Storage-Limit', String(quotaBytes))
}

/** The bytes that count towards the quota. */
export async function usedBytes(db: Database, { app: appId, club: clubId }: Pick<Collection, 'app' | 'club'>) {
  const usage = await db.storageUsage.findUnique({ where: { of: { appId, clubId } }, select: { bytes: true } })
  return Number(usage?.bytes ?? 0)
}

const selectUsage = statement(
  'storage_quota_use',
  `SELECT coalesce((SELECT bytes FROM "StorageUsage" WHERE "appId" = $app AND "clubId" = $club), 0)::int8 AS used,
      coalesce(max(octet_length(value)), 0)::int4 AS replaced, storage_meets(max(version::text), $ifMatch, $ifNoneMatch) AS meets
    FROM "StorageEntry" WHERE "appId" = $app AND "clubId" = $club AND owner = $owner AND collection = $collection AND key = $key`,
  {
    app: text,
    club: text,
    owner: text,
    collection: text,
    key: text,
    ifMatch: nullable(texts),
    ifNoneMatch: nullable(texts),
  },
  { used: int, replaced: int, meets: bool },
)

/**
 * Whether a value of at least `bytes` would grow the store over the quota, as storage_write decides it. False where a
 * precondition fails, which is another refusal.
 */
export async function isBeyondQuota(
  db: Database,
  { app, club, owner, collection }: Collection,
  { key, bytes, quotaBytes }: { key: string; bytes: number; quotaBytes: number },
  { ifMatch, ifNoneMatch }: Conditions,
): Promise<boolean> {
  const [row] = await db.execute(selectUsage, { app, club, owner, collection, key, ifMatch, ifNoneMatch })
  const { used, replaced, meets } = row!
  const growth = bytes - replaced
  return meets && growth > 0 && used + growth > quotaBytes
}

const lock = statement(
  'storage_lock',
  'SELECT FROM "StorageUsage" WHERE "appId" = $app AND "clubId" = $club FOR NO KEY UPDATE',
  { app: text, club: text },
  {},
)

/** Locks a store until the transaction ends, as writers and removals do first. */
export const lockStore = (transaction: Transactional, { app, club }: Pick<Collection, 'app' | 'club'>) =>
  executeIn(transaction, lock, { app, club })
