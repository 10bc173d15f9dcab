import { randomUUID } from 'node:crypto'
import type { Database } from '../../prisma/client.ts'
import type { Field } from '../../prisma/pg/execute.ts'
import { retryingDeadlocks } from '../database-errors.ts'
import type { StoredEntry } from './entry.ts'
import { withStoreLock } from './store-lock.ts'

/** Whose storage, and what in it. `owner` is empty for what the club shares, else the member. */
export interface Collection {
  app: string
  club: string
  owner: string
  collection: string
}

/** `If-Match` and `If-None-Match` as PostgreSQL's arrays of versions, where asked; `*` stands for any. */
export interface Conditions {
  ifMatch: string | null
  ifNoneMatch: string | null
}

/** Values of one answer up to this size are read at once; for larger ones there has to be room first. */
export const LARGE_BYTES = 1024 * 1024

/**
 * The statements of the storage: one answers a request. They go past Prisma to the pool that it uses: a whole GET takes
 * half the time that it takes through `$queryRaw` (npm run bench). The writes are functions of the database (prisma/migrations), where the lock
 * and the sum are.
 */
export const statements = {
  /** The bytes of all values of the answer come first; a value is null when they are more than was asked for. */
  get: {
    name: 'storage_get',
    text: `SELECT octet_length(value), CASE WHEN octet_length(value) <= $6 THEN value END AS value,
        floor(extract(epoch FROM "updatedAt")) AS "updatedAt", version
      FROM "StorageEntry" WHERE "appId" = $1 AND "clubId" = $2 AND owner = $3 AND collection = $4 AND key = $5`,
  },
  /** Goes to the page from the nearer end. An empty page has one row, without a key, for the total. */
  list: {
    name: 'storage_list',
    text: `WITH whole AS MATERIALIZED
        (SELECT count(*)::int4 AS total FROM "StorageEntry"
         WHERE "appId" = $1 AND "clubId" = $2 AND owner = $3 AND collection = $4)
      SELECT bytes, CASE WHEN bytes <= $7 THEN value END AS value,
        floor(extract(epoch FROM "updatedAt")) AS "updatedAt", key, total, version
      FROM whole LEFT JOIN LATERAL
        (SELECT *, sum(octet_length(value)) OVER () AS bytes FROM
          ((SELECT key, value, "updatedAt", version FROM "StorageEntry"
            WHERE "appId" = $1 AND "clubId" = $2 AND owner = $3 AND collection = $4 AND $6::int8 <= total / 2
            ORDER BY key LIMIT $5::int8 OFFSET $6::int8)
           UNION ALL
           (SELECT key, value, "updatedAt", version FROM "StorageEntry"
            WHERE "appId" = $1 AND "clubId" = $2 AND owner = $3 AND collection = $4 AND $6::int8 > total / 2
            ORDER BY key DESC LIMIT greatest(0, least($5::int8, total - $6::int8))
            OFFSET greatest(0, total - $6::int8 - $5::int8))) entries) page ON true
      ORDER BY key`,
  },
  put: {
    name: 'storage_put',
    text: 'SELECT outcome, used FROM storage_put($1, $2, $3, $4, $5, $6, $7, to_timestamp($8), $9, $10, $11)',
  },
  delete: {
    name: 'storage_delete',
    text: 'SELECT outcome, used FROM storage_delete($1, $2, $3, $4, $5, $6, $7)',
  },
}

/** Makes sure of room in memory for values of so many bytes. */
export type Reserve = (bytes: number) => Promise<void>

export async function getEntry(
  db: Database,
  { app, club, owner, collection }: Collection,
  key: string,
  reserve: Reserve,
): Promise<StoredEntry | undefined> {
  const [row] = await whole((most) => db.execute(statements.get, [app, club, owner, collection, key, most]), reserve)
  if (!row) return undefined
  const [, value, updatedAt, version] = row as string[]
  return { key, value: value!, updatedAt: Number(updatedAt), version: version! }
}

/** A page of the entries, in the order of their keys, and how many there are in all. */
export async function listEntries(
  db: Database,
  { app, club, owner, collection }: Collection,
  limit: number,
  offset: number,
  reserve: Reserve,
): Promise<{ total: string; entries: StoredEntry[] }> {
  const place = [app, club, owner, collection, String(limit), String(offset)]
  const rows = (await whole((most) => db.execute(statements.list, [...place, most]), reserve)) as string[][]
  const [bytes, , , , total] = rows[0]!
  const entries =
    bytes === null
      ? []
      : rows.map(([, value, updatedAt, key, , version]) => ({
          key: key!,
          value: value!,
          updatedAt: Number(updatedAt),
          version: version!,
        }))
  return { total: total!, entries }
}

/** What is read with its values: at once where they are small, else again when there is room for what was seen. */
async function whole(read: (most: string) => Promise<Field[][]>, reserve: Reserve): Promise<Field[][]> {
  let reserved = 0
  for (;;) {
    const most = Math.max(LARGE_BYTES, reserved)
    const rows = await read(String(most))
    const bytes = Number(rows[0]?.[0] ?? 0)
    if (bytes <= most) return rows
    // They may have grown again by then; what was reserved before counts on.
    await reserve(bytes - reserved)
    reserved = bytes
  }
}

export async function putEntry(
  db: Database,
  { app, club, owner, collection }: Collection,
  { key, value, updatedAt, quotaBytes }: { key: string; value: string; updatedAt: number; quotaBytes: number },
  { ifMatch, ifNoneMatch }: Conditions,
) {
  const version = randomUUID()
  const what = [value, version, String(updatedAt), String(quotaBytes)]
  const values = [app, club, owner, collection, key, ...what, ifMatch, ifNoneMatch]
  const [row] = await withStoreLock({ app, club }, () => retryingDeadlocks(() => db.execute(statements.put, values)))
  const [outcome, used] = row as ['stored' | 'changed' | 'full', string]
  return { outcome, used, version }
}

export async function deleteEntry(
  db: Database,
  { app, club, owner, collection }: Collection,
  key: string,
  { ifMatch, ifNoneMatch }: Conditions,
) {
  const values = [app, club, owner, collection, key, ifMatch, ifNoneMatch]
  const [row] = await withStoreLock({ app, club }, () => retryingDeadlocks(() => db.execute(statements.delete, values)))
  const [outcome, used] = row as ['deleted' | 'changed' | 'absent', string]
  return { outcome, used }
}
