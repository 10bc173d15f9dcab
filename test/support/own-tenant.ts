import { randomBytes } from 'node:crypto'
import { migratedDatabase } from './databases.ts'
import { createTenant } from './tenant.ts'
import { openTestDatabase } from './test-database.ts'

/**
 * Options of a world: a tenant in a database of its own, for tests of what goes through the rows of all tenants, such as publishing
 * events about members or removing what has expired, and for those of rows that such tests would take.
 */
export async function ownTenant(...atEnd: Parameters<typeof migratedDatabase>) {
  const databaseUrl = await migratedDatabase(...atEnd)
  const db = openTestDatabase(databaseUrl)
  const like = { ids: await createTenant(db), secretsKeys: [randomBytes(32)] }
  await db.$disconnect()
  return { databaseUrl, like }
}
