import { randomUUID } from 'node:crypto'
import type { Database } from '../../prisma/client.ts'
import { sqlState } from '../database-errors.ts'

/** Whose storage, and what in it. `owner` is empty for what the club shares, else the member. */
export interface Collection {
  app: string
  club: string
  owner: string
  collection: string
}

/** `If-Match` and `If-None-Match` as versions, where asked; `*` stands for any. */
export interface Conditions {
  ifMatch: string[] | null
  ifNoneMatch: string[] | null
}

interface StoredEntry {
  key: string
  /** JSON text, as it came in. */
  value: string
  version: string
  updatedAt: number
}

/**
 * The statements of the storage: one answers a request. They go past Prisma to the pool that it uses, which takes half of
 * the time of `$queryRaw` (npm run bench). The writes are functions of the database (prisma/migrations), where the lock
 * and the sum are.
 */
export const statements = {
  get: {
    name: 'storage_get',
    text: `SELECT key, value, version::text, floor(extract(epoch FROM "updatedAt"))::float8 AS "updatedAt"
      FROM "StorageEntry" WHERE "appId" = $1 AND "clubId" = $2 AND owner = $3 AND collection = $4 AND key = $5`,
  },
  /** An empty page has one row, without a key, for the total. */
  list: {
    name: 'storage_list',
    text: `SELECT whole.total, page.* FROM
        (SELECT count(*)::int4 AS total FROM "StorageEntry"
         WHERE "appId" = $1 AND "clubId" = $2 AND owner = $3 AND collection = $4) whole
      LEFT JOIN
        (SELECT key, value, floor(extract(epoch FROM "updatedAt"))::float8 AS "updatedAt" FROM "StorageEntry"
         WHERE "appId" = $1 AND "clubId" = $2 AND owner = $3 AND collection = $4
         ORDER BY key LIMIT $5 OFFSET $6) page ON true
      ORDER BY page.key`,
  },
  put: {
    name: 'storage_put',
    text: 'SELECT outcome, used::float8 FROM storage_put($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
  },
  delete: {
    name: 'storage_delete',
    text: 'SELECT outcome, used::float8 FROM storage_delete($1, $2, $3, $4, $5, $6, $7)',
  },
}

export async function getEntry(db: Database, { app, club, owner, collection }: Collection, key: string) {
  const [entry] = await db.run<StoredEntry>(statements.get, [app, club, owner, collection, key])
  return entry
}

/** A page of the entries, in the order of their keys, and how many there are in all. */
export async function listEntries(
  db: Database,
  { app, club, owner, collection }: Collection,
  limit: number,
  offset: number,
) {
  type Row = { total: number } & (StoredEntry | { key: null })
  const rows = await db.run<Row>(statements.list, [app, club, owner, collection, limit, offset])
  return { total: rows[0]!.total, entries: rows.filter((row) => row.key !== null) }
}

export async function putEntry(
  db: Database,
  { app, club, owner, collection }: Collection,
  { key, value, writtenAt, quotaBytes }: { key: string; value: string; writtenAt: Date; quotaBytes: number },
  { ifMatch, ifNoneMatch }: Conditions,
) {
  type Row = { outcome: 'stored' | 'changed' | 'full'; used: number }
  const version = randomUUID()
  const place = [app, club, owner, collection, key]
  const values = [...place, value, version, writtenAt, quotaBytes, ifMatch, ifNoneMatch]
  const [row] = await retryingDeadlocks(() => db.run<Row>(statements.put, values))
  return { ...row!, version }
}

export async function deleteEntry(
  db: Database,
  { app, club, owner, collection }: Collection,
  key: string,
  { ifMatch, ifNoneMatch }: Conditions,
) {
  type Row = { outcome: 'deleted' | 'changed' | 'absent'; used: number }
  const values = [app, club, owner, collection, key, ifMatch, ifNoneMatch]
  const [row] = await retryingDeadlocks(() => db.run<Row>(statements.delete, values))
  return row!
}

/** Our writers cannot deadlock with one another, but with the removal of a member, an app or a club they can. */
async function retryingDeadlocks<T>(write: () => Promise<T>, tries = 5): Promise<T> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      if (sqlState(error) !== '40P01' || --tries === 0) throw error
    }
  }
}
