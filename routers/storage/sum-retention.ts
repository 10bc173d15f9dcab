import type { ClientBase } from 'pg'
import type { Database } from '../../prisma/client.ts'
import { statement, text } from '../../prisma/pg/statement.ts'
import type { Collection } from './statements.ts'

/** Collections per portion. */
const PORTION = 100

const unsummed = statement(
  'storage_unsummed',
  `SELECT "appId" AS app, "clubId" AS club, owner, collection FROM "StorageCollection"
    WHERE bytes IS NULL ORDER BY entries LIMIT ${PORTION}`,
  {},
  { app: text, club: text, owner: text, collection: text },
)

const statements = {
  lock: 'SELECT FROM "StorageUsage" WHERE "appId" = $1 AND "clubId" = $2 FOR NO KEY UPDATE',
  sum: `UPDATE "StorageCollection" summed SET bytes = stored.bytes, "updatedAt" = stored."updatedAt"
    FROM (SELECT coalesce(sum(octet_length(value)), 0) AS bytes, max("updatedAt") AS "updatedAt" FROM "StorageEntry"
      WHERE "appId" = $1 AND "clubId" = $2 AND owner = $3 AND collection = $4) stored
    WHERE "appId" = $1 AND "clubId" = $2 AND owner = $3 AND collection = $4`,
}

/** Sums collections of the release before the sums, and returns their number. The smallest first: one that times out is the last. */
export async function sumCollections(db: Database): Promise<number> {
  const rows = await db.execute(unsummed, {})
  for (const collection of rows) await db.inTransaction((client) => sum(client, collection))
  return rows.length
}

/** The store is locked first, so that the sums have all changes that the triggers have seen, and no other. */
async function sum(client: ClientBase, { app, club, owner, collection }: Collection) {
  await client.query(statements.lock, [app, club])
  await client.query(statements.sum, [app, club, owner, collection])
}
