import { expect, inject, it, onTestFinished } from 'vitest'
import type { PrismaClient } from '../../prisma/generated/client.ts'
import { withLazyPrisma } from '../../prisma/lazy-prisma.ts'
import { int, statement } from '../../prisma/pg/statement.ts'
import { openTestDatabase } from '../support/test-database.ts'

const one = statement('suite_one', 'SELECT 1 AS one', {}, { one: int })

it('Prisma is loaded by the first call of a model, once, not by statements or an await', async () => {
  const db = openTestDatabase(inject('databaseUrl'))
  onTestFinished(() => db.$disconnect())
  let loaded = 0
  const lazy = withLazyPrisma({ execute: db.execute }, async () => {
    loaded++
    return db as unknown as PrismaClient
  })
  expect(await Promise.resolve(lazy)).toBe(lazy)
  expect(await lazy.execute(one, {})).toEqual([{ one: 1 }])
  expect(loaded).toBe(0)
  const counts = await Promise.all([lazy.organisation.count(), lazy.person.count()])
  expect(counts).toEqual([expect.any(Number), expect.any(Number)])
  expect(await lazy.$queryRaw`SELECT ${'x'} AS x`).toEqual([{ x: 'x' }])
  expect(await lazy.$transaction((tx) => tx.$queryRaw`SELECT 2 AS two`)).toEqual([{ two: 2 }])
  expect(loaded).toBe(1)
})
