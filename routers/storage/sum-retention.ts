import type { ClientBase } from 'pg'
import type { Database } from '../../prisma/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { statement, text } from '../../prisma/pg/statement.ts'
import type { Collection } from './statements.ts'
import { lockStore } from './usage.ts'

/** Collections per portion. */
const PORTION = 100

const unsummed = statement(
  'storage_unsummed',
  `SELECT "appId" AS app, "clubId" AS club, owner, collection FROM "StorageCollection"
    WHERE bytes IS NULL ORDER BY entries LIMIT ${PORTION}`,
  {},
  { app: text, club: text, owner: text, collection: text },
)

const sumOne = statement(
  'storage_sum',
  `UPDATE "StorageCollection" summed SET bytes = stored.bytes, "updatedAt" = stored."updatedAt"
    FROM (SELECT coalesce(sum(octet_length(value)), 0) AS bytes, max("updatedAt") AS "updatedAt" FROM "StorageEntry"
      WHERE "appId" = $app AND "clubId" = $club AND owner = $owner AND collection = $collection) stored
    WHERE "appId" = $app AND "clubId" = $club AND owner = $owner AND collection = $collection`,
  { app: text, club: text, owner: text, collection: text },
  {},
)

/** Sums collections of the release before the sums, and returns their number. The smallest first: one that times out is the last. */
export async function sumCollections(db: Database): Promise<number> {
  const rows = await db.execute(unsummed, {})
  for (const collection of rows) await db.inTransaction((client) => sum(client, collection))
  return rows.length
}

/** The store is locked first, so that the sums have all changes that the triggers have seen, and no other. */
async function sum(client: ClientBase, collection: Collection) {
  await lockStore(client, collection)
  await executeIn(client, sumOne, collection)
}
