import { expect, inject, it } from 'vitest'
import { int, statement } from '../../prisma/pg/statement.ts'
import { openTestDatabase } from '../support/test-database.ts'

const one = statement('suite_one', 'SELECT 1 AS one', {}, { one: int })

it('$disconnect closes the pool also when Prisma never used it, and when called twice', async () => {
  const db = openTestDatabase(inject('databaseUrl'))
  expect(await db.execute(one, {})).toEqual([{ one: 1 }])
  await db.$disconnect()
  await expect(db.execute(one, {})).rejects.toThrow('after calling end on the pool')
  await db.$disconnect()

  const other = openTestDatabase(inject('databaseUrl'))
  await other.$queryRaw`SELECT 1`
  await other.$disconnect()
  await other.$disconnect()
  await expect(other.execute(one, {})).rejects.toThrow('after calling end on the pool')
})
