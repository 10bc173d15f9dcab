import { beforeAll, beforeEach } from 'vitest'
import { openDatabase } from '../../prisma/client.ts'
import { seed } from '../../prisma/seed.ts'
import { memberScopesAt } from '../../routers/scopes.ts'
import { migratedDatabase, query } from '../support/databases.ts'

/** The environment of a database of this file's own, which has the demo data before each test and nothing else. */
export function filledDatabase(): { DATABASE_URL: string } {
  const env = { DATABASE_URL: '' }
  beforeAll(async () => {
    const ends: (() => Promise<void>)[] = []
    env.DATABASE_URL = await migratedDatabase((end) => ends.push(end))
    return async () => {
      for (const end of ends) await end()
    }
  })
  beforeEach(async () => {
    await query(
      env.DATABASE_URL,
      'DELETE FROM "Consent"; DELETE FROM "Client"; DELETE FROM "App"; DELETE FROM "Team"; DELETE FROM "SigningKey"',
    )
    const db = openDatabase(env.DATABASE_URL, () => {})
    await seed(db, new Date(), memberScopesAt).finally(() => db.$disconnect())
  })
  return env
}
