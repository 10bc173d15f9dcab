import { randomUUID } from 'node:crypto'
import type { Database } from '../../prisma/client.ts'
import { bool, int, nullable, oneOf, statement, text, texts, uuid } from '../../prisma/pg/statement.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'
import type { JsonText } from '../kernel/raw-json/text.ts'
import type { Reserve } from '../kernel/read-within.ts'
import { readWithin } from '../kernel/read-within.ts'
import { unix } from '../kernel/time.ts'
import type { StoredEntry } from './entry.ts'
import { withStoreLock } from './store-lock.ts'

/** A collection of an app's storage in a club. `owner` is empty for shared entries, else the member. */
export interface Collection {
  app: string
  club: string
  owner: string
  collection: string
}

/** `If-Match` and `If-None-Match` as versions, where asked; `*` stands for any. */
export interface Conditions {
  ifMatch: readonly string[] | null
  ifNoneMatch: readonly string[] | null
}

/**
 * One statement a request, past Prisma, through which a whole GET takes twice as long (npm run bench). The writes
 * are functions of the database (prisma/functions), which hold the lock and keep the sum.
 */
export const statements = {
  /** `value` is null when it has more than `maxBytes`. */
  get: statement(
    'storage_get',
    `SELECT octet_length(value) AS bytes, CASE WHEN octet_length(value) <= $maxBytes THEN value END AS value,
        ${unix('"updatedAt"')} AS "updatedAt", version
      FROM "StorageEntry" WHERE "appId" = $app AND "clubId" = $club AND owner = $owner AND collection = $collection AND key = $key`,
    { app: text, club: text, owner: text, collection: text, key: text, maxBytes: int },
    { bytes: int, value: nullable(text), updatedAt: int, version: uuid },
  ),
  /**
   * Reads the page from the nearer end. An OFFSET that PostgreSQL knows, and a LIMIT that it does not know, look expensive, so it
   * compiled the statement first (JIT, 28 ms): hence `least` and the LIMIT of 200, the largest page. `bytes` is the sum of the
   * page's values, which are null when it exceeds `maxBytes`. An empty page has one row, for the total; its other columns are
   * null.
   */
  list: statement(
    'storage_list',
    `WITH whole AS MATERIALIZED
        (SELECT coalesce((SELECT entries FROM "StorageCollection"
         WHERE "appId" = $app AND "clubId" = $club AND owner = $owner AND collection = $collection), 0) AS total)
      SELECT bytes, CASE WHEN bytes <= $maxBytes THEN value END AS value,
        ${unix('"updatedAt"')} AS "updatedAt", key, total, version
      FROM whole LEFT JOIN LATERAL
        (SELECT *, sum(octet_length(value)) OVER () AS bytes FROM
          ((SELECT key, value, "updatedAt", version FROM "StorageEntry"
            WHERE "appId" = $app AND "clubId" = $club AND owner = $owner AND collection = $collection AND $offset::int8 <= total / 2
            ORDER BY key LIMIT $limit::int8 OFFSET least($offset::int8, total))
           UNION ALL
           (SELECT key, value, "updatedAt", version FROM "StorageEntry"
            WHERE "appId" = $app AND "clubId" = $club AND owner = $owner AND collection = $collection AND $offset::int8 > total / 2
            ORDER BY key DESC LIMIT greatest(0, least($limit::int8, total - $offset::int8))
            OFFSET greatest(0, total - $offset::int8 - $limit::int8)) LIMIT 200) entries) page ON true
      ORDER BY key`,
    { app: text, club: text, owner: text, collection: text, limit: int, offset: int, maxBytes: int },
    {
      bytes: nullable(int),
      value: nullable(text),
      updatedAt: nullable(int),
      key: nullable(text),
      total: int,
      version: nullable(uuid),
    },
  ),
  put: statement(
    'storage_write',
    'SELECT outcome, used FROM storage_write($app, $club, $owner, $collection, $key, $value, $version, to_timestamp($updatedAt), $quotaBytes, $ifMatch, $ifNoneMatch, $writer, $ruled)',
    {
      app: text,
      club: text,
      owner: text,
      collection: text,
      key: text,
      value: text,
      version: uuid,
      updatedAt: int,
      quotaBytes: int,
      ifMatch: nullable(texts),
      ifNoneMatch: nullable(texts),
      writer: nullable(text),
      ruled: bool,
    },
    { outcome: oneOf('stored', 'changed', 'full', 'refused'), used: int },
  ),
  delete: statement(
    'storage_delete',
    'SELECT outcome, used FROM storage_delete($app, $club, $owner, $collection, $key, $ifMatch, $ifNoneMatch, $bound)',
    {
      app: text,
      club: text,
      owner: text,
      collection: text,
      key: text,
      ifMatch: nullable(texts),
      ifNoneMatch: nullable(texts),
      bound: nullable(text),
    },
    { outcome: oneOf('deleted', 'changed', 'absent', 'refused'), used: int },
  ),
}

export async function getEntry(
  db: Database,
  { app, club, owner, collection }: Collection,
  key: string,
  reserve: Reserve,
): Promise<StoredEntry | undefined> {
  const [row] = await readWithin(reserve, (maxBytes) =>
    db.execute(statements.get, { app, club, owner, collection, key, maxBytes }),
  )
  return row && { key, value: row.value!, updatedAt: row.updatedAt, version: row.version }
}

/** A page of the entries in the order of their keys, and the number of all entries. */
export async function listEntries(
  db: Database,
  { app, club, owner, collection }: Collection,
  limit: number,
  offset: number,
  reserve: Reserve,
): Promise<{ total: number; entries: StoredEntry[] }> {
  const rows = await readWithin(reserve, (maxBytes) =>
    db.execute(statements.list, { app, club, owner, collection, limit, offset, maxBytes }),
  )
  return { total: rows[0]!.total, entries: rows.filter(isEntry) }
}

const isEntry = <R extends { key: string | null }>(row: R): row is R & StoredEntry => row.key !== null

interface Write {
  key: string
  value: JsonText
  updatedAt: number
  quotaBytes: number
  /** The member who writes; null for somebody who is none. */
  writer: string | null
  /** Whether the app has rules, which bind the member. */
  ruled: boolean
}

export async function putEntry(
  db: Database,
  { app, club, owner, collection }: Collection,
  { key, value, updatedAt, quotaBytes, writer, ruled }: Write,
  { ifMatch, ifNoneMatch }: Conditions,
) {
  const version = randomUUID()
  const values = {
    app,
    club,
    owner,
    collection,
    key,
    value,
    version,
    updatedAt,
    quotaBytes,
    ifMatch,
    ifNoneMatch,
    writer,
    ruled: ruled && owner === '',
  }
  const [row] = await withStoreLock({ app, club }, () => retryingDeadlocks(() => db.execute(statements.put, values)))
  return { ...row!, version }
}

interface Deletion {
  key: string
  /** The member whom the app's rules bind; null if it has none, and for somebody who is no member. */
  bound: string | null
}

export async function deleteEntry(
  db: Database,
  { app, club, owner, collection }: Collection,
  { key, bound }: Deletion,
  { ifMatch, ifNoneMatch }: Conditions,
) {
  const values = { app, club, owner, collection, key, ifMatch, ifNoneMatch, bound: owner === '' ? bound : null }
  const [row] = await withStoreLock({ app, club }, () => retryingDeadlocks(() => db.execute(statements.delete, values)))
  return row!
}
