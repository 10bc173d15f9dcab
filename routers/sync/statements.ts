import type { Database } from '../../prisma/client.ts'
import { bool, int, nullable, statement, text, uuid } from '../../prisma/pg/statement.ts'
import type { Reserve } from '../kernel/read-within.ts'
import { readWithin } from '../kernel/read-within.ts'
import { unix } from '../kernel/time.ts'
import type { Collection } from '../storage/statements.ts'

// Pages begin after a name, not at an offset, so that writers move no entry between them. The innermost LIMIT, the largest page and
// one more, is a number that PostgreSQL knows: otherwise it expects many rows, and compiles the statement first (JIT).

/** Exported for the tests of their plans. */
export const statements = {
  /**
   * Reads entries only where a sum is unknown (StorageCollection), 0.4 us an entry. If that is the time of the last write, whose
   * entry was removed, the log mostly has the one before. The LIMIT is a subquery, which PostgreSQL does not see: 200 sums would
   * look like many rows.
   */
  collections: statement(
    'sync_collections',
    `SELECT collection, entries, coalesce(page.bytes, read.bytes) AS bytes,
        ${unix('coalesce(page."updatedAt", logged."updatedAt", read."updatedAt")')} AS "updatedAt", more
      FROM (SELECT collection, entries, bytes, "updatedAt", lead(true, 1, false) OVER (ORDER BY collection) AS more FROM
          (SELECT collection, entries, bytes, "updatedAt" FROM "StorageCollection"
           WHERE "appId" = $app AND "clubId" = $club AND owner = $owner AND collection > $after
           ORDER BY collection LIMIT 201) named
         ORDER BY collection LIMIT (SELECT $limit::int8)) page
        LEFT JOIN LATERAL
        (SELECT entry."updatedAt" FROM
          (SELECT key, version, number FROM "StorageChange" WHERE "appId" = $app AND "clubId" = $club AND owner = $owner
             AND "StorageChange".collection = page.collection AND version IS NOT NULL ORDER BY number DESC LIMIT 100) change
          CROSS JOIN LATERAL (SELECT "updatedAt" FROM "StorageEntry" WHERE "appId" = $app AND "clubId" = $club AND owner = $owner
             AND "StorageEntry".collection = page.collection AND key = change.key AND version = change.version LIMIT 1) entry
         WHERE page."updatedAt" IS NULL ORDER BY number DESC LIMIT 1) logged ON true
        CROSS JOIN LATERAL
        (SELECT sum(octet_length(value))::int8 AS bytes, max("updatedAt") AS "updatedAt"
         FROM "StorageEntry" WHERE "appId" = $app AND "clubId" = $club AND owner = $owner AND "StorageEntry".collection = page.collection
           AND (page.bytes IS NULL OR coalesce(page."updatedAt", logged."updatedAt") IS NULL)) read
      ORDER BY collection`,
    { app: text, club: text, owner: text, after: text, limit: int },
    { collection: text, entries: int, bytes: int, updatedAt: int, more: bool },
  ),
  /** The characters of a key are before `~`. `bytes` is the sum of the page's values, which are null when it exceeds `maxBytes`. */
  entries: statement(
    'sync_entries',
    `SELECT bytes, CASE WHEN bytes <= $maxBytes THEN value END AS value,
        ${unix('"updatedAt"')} AS "updatedAt", key, version, more
      FROM (SELECT *, sum(octet_length(value)) OVER () AS bytes FROM
        (SELECT *, lead(true, 1, false) OVER (ORDER BY key) AS more FROM
          (SELECT key, value, "updatedAt", version FROM "StorageEntry"
           WHERE "appId" = $app AND "clubId" = $club AND owner = $owner AND collection = $collection
             AND key > $after AND key >= $prefix AND key < $prefix || '~'
           ORDER BY key LIMIT 201) found
         ORDER BY key LIMIT $limit::int8) page) sized
      ORDER BY key`,
    { app: text, club: text, owner: text, collection: text, after: text, prefix: text, limit: int, maxBytes: int },
    { bytes: int, value: nullable(text), updatedAt: int, key: text, version: uuid, more: bool },
  ),
}

/** The collections with entries after one, which need not exist, in byte order. */
export const collectionsAfter = (db: Database, { app, club, owner, collection }: Collection, limit: number) =>
  db.execute(statements.collections, { app, club, owner, after: collection, limit })

interface Wanted {
  prefix: string
  after: string
  limit: number
  values: boolean
}

/** Entries after the key `after` that begin with `prefix`, in byte order; their values are null where these are not wanted. */
export function entriesAfter(
  db: Database,
  { app, club, owner, collection }: Collection,
  { prefix, after, limit, values }: Wanted,
  reserve: Reserve,
) {
  const read = (maxBytes: number) =>
    db.execute(statements.entries, { app, club, owner, collection, after, prefix, limit, maxBytes })
  return values ? readWithin(reserve, read) : read(NO_VALUES)
}

const NO_VALUES = -1
