import { randomUUID } from 'node:crypto'
import type { Database } from '../../prisma/client.ts'
import { int, nullable, oneOf, statement, text, uuid } from '../../prisma/pg/statement.ts'
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

/** `If-Match` and `If-None-Match` as PostgreSQL's arrays of versions, where asked; `*` stands for any. */
export interface Conditions {
  ifMatch: string | null
  ifNoneMatch: string | null
}

/**
 * One statement a request, past Prisma: through `$queryRaw` a whole GET takes twice as long (npm run bench). The writes
 * are functions of the database (prisma/functions), which hold the lock and keep the sum.
 */
export const statements = {
  /** `value` is null when it has more than $6 bytes. */
  get: statement(
    'storage_get',
    `SELECT octet_length(value) AS bytes, CASE WHEN octet_length(value) <= $6 THEN value END AS value,
        ${unix('"updatedAt"')} AS "updatedAt", version
      FROM "StorageEntry" WHERE "appId" = $1 AND "clubId" = $2 AND owner = $3 AND collection = $4 AND key = $5`,
    { bytes: int, value: nullable(text), updatedAt: int, version: uuid },
  ),
  /**
   * Reads the page from the nearer end. An OFFSET that PostgreSQL knows, and a LIMIT that it does not know, look expensive, so
   * it compiled the statement first (JIT, 28 ms): hence `least` and the LIMIT of 200, the largest page. `bytes` is the sum of the page's values, which are null when it exceeds $7. An
   * empty page has one row, for the total; its other columns are null.
   */
  list: statement(
    'storage_list',
    `WITH whole AS MATERIALIZED
        (SELECT coalesce((SELECT entries FROM "StorageCollection"
         WHERE "appId" = $1 AND "clubId" = $2 AND owner = $3 AND collection = $4), 0) AS total)
      SELECT bytes, CASE WHEN bytes <= $7 THEN value END AS value,
        ${unix('"updatedAt"')} AS "updatedAt", key, total, version
      FROM whole LEFT JOIN LATERAL
        (SELECT *, sum(octet_length(value)) OVER () AS bytes FROM
          ((SELECT key, value, "updatedAt", version FROM "StorageEntry"
            WHERE "appId" = $1 AND "clubId" = $2 AND owner = $3 AND collection = $4 AND $6::int8 <= total / 2
            ORDER BY key LIMIT $5::int8 OFFSET least($6::int8, total))
           UNION ALL
           (SELECT key, value, "updatedAt", version FROM "StorageEntry"
            WHERE "appId" = $1 AND "clubId" = $2 AND owner = $3 AND collection = $4 AND $6::int8 > total / 2
            ORDER BY key DESC LIMIT greatest(0, least($5::int8, total - $6::int8))
            OFFSET greatest(0, total - $6::int8 - $5::int8)) LIMIT 200) entries) page ON true
      ORDER BY key`,
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
    'SELECT outcome, used FROM storage_write($1, $2, $3, $4, $5, $6, $7, to_timestamp($8), $9, $10, $11, $12, $13)',
    { outcome: oneOf('stored', 'changed', 'full', 'refused'), used: int },
  ),
  delete: statement('storage_delete', 'SELECT outcome, used FROM storage_delete($1, $2, $3, $4, $5, $6, $7, $8)', {
    outcome: oneOf('deleted', 'changed', 'absent', 'refused'),
    used: int,
  }),
}

export async function getEntry(
  db: Database,
  { app, club, owner, collection }: Collection,
  key: string,
  reserve: Reserve,
): Promise<StoredEntry | undefined> {
  const values = [app, club, owner, collection, key]
  const [row] = await readWithin(reserve, (maxBytes) => db.execute(statements.get, [...values, maxBytes]))
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
  const values = [app, club, owner, collection, String(limit), String(offset)]
  const rows = await readWithin(reserve, (maxBytes) => db.execute(statements.list, [...values, maxBytes]))
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
  const written = [value, version, String(updatedAt), String(quotaBytes)]
  const isBound = ruled && owner === ''
  const values = [app, club, owner, collection, key, ...written, ifMatch, ifNoneMatch, writer, String(isBound)]
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
  const values = [app, club, owner, collection, key, ifMatch, ifNoneMatch, owner === '' ? bound : null]
  const [row] = await withStoreLock({ app, club }, () => retryingDeadlocks(() => db.execute(statements.delete, values)))
  return row!
}
