import { beforeAll, beforeEach } from 'vitest'
import { seed } from '../../prisma/seed.ts'
import { memberScopesAt } from '../../routers/kernel/scopes.ts'
import { migratedDatabase } from '../support/databases.ts'
import { keepRows } from '../support/kept-rows.ts'
import { openTestDatabase } from '../support/test-database.ts'

/** One for each worker process of Vitest, which runs one file at a time; dropped after the run. */
let filled: Promise<{ url: string; reset: () => Promise<void> }> | undefined

async function fill() {
  const url = await migratedDatabase(() => {})
  const db = openTestDatabase(url)
  await seed(db, new Date(), memberScopesAt).finally(() => db.$disconnect())
  return { url, reset: await keepRows(url) }
}

/** The environment of a database that has the demo data before each test and nothing else. */
export function filledDatabase(): { DATABASE_URL: string } {
  const env = { DATABASE_URL: '' }
  beforeAll(async () => {
    filled ??= fill()
    env.DATABASE_URL = (await filled).url
  })
  beforeEach(async () => (await filled!).reset())
  return env
}
