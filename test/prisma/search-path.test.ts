import { describe, expect, inject, it } from 'vitest'
import { compareSchema, migrate } from '../../prisma/migrate.ts'
import { checkSessions } from '../../prisma/session-limits.ts'
import { direct } from '../support/addresses.ts'
import { emptyDatabase, migratedDatabase, query } from '../support/databases.ts'
import { openTestDatabase } from '../support/test-database.ts'

/** A database whose sessions find the schema `clubs` first. */
async function withOwnSchema(url: string) {
  await query(url, 'CREATE SCHEMA clubs')
  await query(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET search_path = clubs, public`)
  return url
}

const PUBLIC =
  /^The tables are in the schema public, but clubs is first in the search_path of the role (\S+): run (ALTER .*;)$/

describe.skipIf(inject('isCitus'))('sessions that find another schema first', () => {
  it('are refused by a migration, which creates nothing, until its statement has been run', async () => {
    const url = await withOwnSchema(direct(await emptyDatabase()))
    for (const use of [migrate, compareSchema]) await expect(use(url)).rejects.toThrow(PUBLIC)
    const tables = `SELECT tablename FROM pg_tables WHERE schemaname IN ('clubs', 'public')`
    expect(await query(url, tables)).toEqual([])
    const [, , statement] = PUBLIC.exec(await migrate(url).catch(({ message }) => message))!
    await query(url, statement!)
    await migrate(url)
    expect(await query(url, `SELECT count(*) FROM pg_tables WHERE schemaname = 'clubs'`)).toEqual([{ count: '0' }])
    const db = openTestDatabase(url)
    await expect(checkSessions(db).then(() => db.person.count())).resolves.toBe(0)
    await db.$disconnect()
  })

  it('stop a start of the service or of a worker', async () => {
    const db = openTestDatabase(await withOwnSchema(await migratedDatabase()))
    await expect(checkSessions(db)).rejects.toThrow(PUBLIC)
    await db.$disconnect()
  })
})
