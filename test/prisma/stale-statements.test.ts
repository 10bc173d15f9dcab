import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { statement, text } from '../../prisma/pg/statement.ts'
import { direct } from '../support/addresses.ts'
import { ask } from '../support/ask.ts'
import { migratedDatabase, query } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'
import { retypings } from '../support/retypings.ts'
import { openTestDatabase } from '../support/test-database.ts'

let url: string
beforeAll(async () => {
  url = await migratedDatabase(afterAll)
})
beforeEach(async () => {
  await ask(url, 'DELETE FROM "Team"; ALTER TABLE "Team" ALTER COLUMN name TYPE text COLLATE "C"')
})

const team = statement(
  'suite_team',
  'SELECT id, name FROM "Team" WHERE id = $team',
  { team: text },
  { id: text, name: text },
)

/** How the statements that a connection has prepared become stale. */
const causes = [
  {
    cause: 'DISCARD ALL in its session',
    // PgBouncer takes it from the client itself as the end of all that this client has prepared.
    provoke: (db: Database) => (direct(url) === url ? db.$executeRawUnsafe('DISCARD ALL') : discardBeside()),
  },
  {
    cause: 'a migration that changes the type of a column',
    provoke: () => ask(url, 'ALTER TABLE "Team" ALTER COLUMN name TYPE varchar'),
  },
]

async function discardBeside() {
  const client = pgClient(url)
  await client.connect()
  await client.query('DISCARD ALL').finally(() => client.end())
}

describe.each(causes)('after $cause', ({ provoke }) => {
  it.each([
    { of: 'a declared statement', read: (db: Database) => db.execute(team, { team: 't' }) },
    { of: 'a query of Prisma', read: (db: Database) => db.team.findMany({ select: { id: true, name: true } }) },
    {
      of: 'a query in a transaction',
      read: (db: Database) => db.$transaction((tx) => tx.team.findMany({ select: { id: true, name: true } })),
    },
    {
      of: 'a second query in a transaction',
      read: (db: Database) =>
        db.$transaction(async (tx) => {
          await tx.team.count()
          return tx.team.findMany({ select: { id: true, name: true } })
        }),
    },
  ])('$of returns its rows, again and again', async ({ read }) => {
    const db = openTestDatabase(url, { max: 1 })
    onTestFinished(() => db.$disconnect())
    const { id, name } = await db.team.create({ data: { id: 't', name: 'T', level: 'hobby' } })
    for (let time = 0; time < 2; time++) expect(await read(db)).toEqual([{ id, name }])
    await provoke(db)
    for (let time = 0; time < 2; time++) expect(await read(db)).toEqual([{ id, name }])
    await provoke(db)
    expect(await read(db)).toEqual([{ id, name }])
  })
})

it('a write is made once', async () => {
  const db = openTestDatabase(url, { max: 1 })
  onTestFinished(() => db.$disconnect())
  const add = (id: string) => db.team.create({ data: { id, name: 'T', level: 'hobby' } })
  await add('a')
  if (direct(url) === url) await db.$executeRawUnsafe('DISCARD ALL')
  else await discardBeside()
  await add('b')
  expect(await db.team.count()).toBe(2)
})

// They run in `npm run verify -- pgbouncer`, and a new trigger on such a column refuses them.
it.each(retypings)('%s is possible', async (retyping) => {
  expect(await query(await migratedDatabase(), retyping)).toEqual([])
})
