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
 * The statements of the storage. `$queryRaw`, as one statement each answers a request, and as it costs half of what the
 * model calls do; the writes are functions of the database (prisma/migrations), where the lock and the sum are.
 */
export async function getEntry(db: Database, { app, club, owner, collection }: Collection, key: string) {
  const [entry] = await db.$queryRaw<StoredEntry[]>`
    SELECT key, value, version::text, floor(extract(epoch FROM "updatedAt"))::float8 AS "updatedAt" FROM "StorageEntry"
    WHERE "appId" = ${app} AND "clubId" = ${club} AND owner = ${owner} AND collection = ${collection} AND key = ${key}`
  return entry
}

/** A page of the entries by key, and how many there are; an empty page has one row without a key. */
export async function listEntries(db: Database, of: Collection, limit: number, offset: number) {
  const rows = await db.$queryRaw<({ total: number } & (StoredEntry | { key: null }))[]>`
    SELECT whole.total::int4, page.* FROM
      (SELECT count(*) AS total FROM "StorageEntry"
       WHERE "appId" = ${of.app} AND "clubId" = ${of.club} AND owner = ${of.owner} AND collection = ${of.collection}) whole
    LEFT JOIN
      (SELECT key, value, floor(extract(epoch FROM "updatedAt"))::float8 AS "updatedAt" FROM "StorageEntry"
       WHERE "appId" = ${of.app} AND "clubId" = ${of.club} AND owner = ${of.owner} AND collection = ${of.collection}
       ORDER BY key LIMIT ${limit} OFFSET ${offset}) page ON true
    ORDER BY page.key`
  return { total: rows[0]!.total, entries: rows.filter((row) => row.key !== null) }
}

export async function putEntry(
  db: Database,
  { app, club, owner, collection }: Collection,
  { key, value, writtenAt, quotaBytes }: { key: string; value: string; writtenAt: Date; quotaBytes: number },
  { ifMatch, ifNoneMatch }: Conditions,
) {
  const version = randomUUID()
  const [row] = await retryingDeadlocks(
    () => db.$queryRaw<{ outcome: 'stored' | 'changed' | 'full'; used: number }[]>`
      SELECT outcome, used::float8 FROM storage_put(${app}, ${club}, ${owner}, ${collection}, ${key}, ${value},
        ${version}::uuid, ${writtenAt}::timestamptz, ${quotaBytes}::bigint, ${ifMatch}::text[], ${ifNoneMatch}::text[])`,
  )
  return { ...row!, version }
}

export async function deleteEntry(
  db: Database,
  { app, club, owner, collection }: Collection,
  key: string,
  { ifMatch, ifNoneMatch }: Conditions,
) {
  const [row] = await retryingDeadlocks(
    () => db.$queryRaw<{ outcome: 'deleted' | 'changed' | 'absent'; used: number }[]>`
      SELECT outcome, used::float8 FROM storage_delete(${app}, ${club}, ${owner}, ${collection}, ${key},
        ${ifMatch}::text[], ${ifNoneMatch}::text[])`,
  )
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
