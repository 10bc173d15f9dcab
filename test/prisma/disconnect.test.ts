import { expect, inject, it } from 'vitest'
import { openDatabase } from '../../prisma/client.ts'

const statement = { name: 'one', text: 'SELECT 1' }

it('a database is closed also when Prisma was never asked for anything, and twice', async () => {
  const db = openDatabase(inject('databaseUrl'), () => {})
  expect(await db.execute(statement, [])).toEqual([['1']])
  await db.$disconnect()
  await expect(db.execute(statement, [])).rejects.toThrow('after calling end on the pool')
  await db.$disconnect()

  const other = openDatabase(inject('databaseUrl'), () => {})
  await other.$queryRaw`SELECT 1`
  await other.$disconnect()
  await other.$disconnect()
  await expect(other.execute(statement, [])).rejects.toThrow('after calling end on the pool')
})
