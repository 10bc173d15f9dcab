import { expect, inject, it, onTestFinished } from 'vitest'
import { withLazyPrisma } from '../../prisma/lazy-prisma.ts'
import { int, statement } from '../../prisma/pg/statement.ts'
import { openTestDatabase } from '../support/test-database.ts'

const one = statement('test_one', 'SELECT 1 AS one', { one: int })

it('Prisma is made by the first use of a model, once, not by statements or an await', async () => {
  const db = openTestDatabase(inject('databaseUrl'))
  onTestFinished(() => db.$disconnect())
  let made = 0
  const lazy = withLazyPrisma({ execute: db.execute }, () => {
    made++
    return db
  })
  expect(await Promise.resolve(lazy)).toBe(lazy)
  expect(await lazy.execute(one, [])).toEqual([{ one: 1 }])
  expect(made).toBe(0)
  expect(await lazy.organisation.count()).toBeGreaterThanOrEqual(0)
  expect(await lazy.$transaction([lazy.person.count(), lazy.organisation.count()])).toHaveLength(2)
  expect(made).toBe(1)
})
