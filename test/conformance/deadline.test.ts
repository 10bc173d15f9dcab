import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { withBounds } from '../../routers/kernel/call-core.ts'
import { Deadline } from '../../routers/kernel/deadline.ts'
import { useWorld } from '../support/started.ts'
import { suiteLimits } from '../support/time-limits.ts'

const world = useWorld()

const over = () => new Deadline(0)
const inTime = () => new Deadline(suiteLimits.requestMs)
const unavailable = { status: 503, publicCode: 'unavailable' }

describe('the deadline of a request', () => {
  it('refuses what still runs when it is over, and leaves work in time alone', async () => {
    expect(await inTime().bound(Promise.resolve('in time'))).toBe('in time')
    await expect(inTime().bound(Promise.reject(new Error('its own')))).rejects.toThrow('its own')
    await expect(over().bound(new Promise(() => {}))).rejects.toMatchObject(unavailable)
  })

  it('does not count what is excluded', async () => {
    const deadline = new Deadline(200)
    let end = () => {}
    const excluded = deadline.without(() => new Promise<void>((resolve) => (end = resolve)))
    const bound = deadline.bound(excluded.then(() => 'whole'))
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(deadline.isOver).toBe(false)
    end()
    expect(await bound).toBe('whole')
    await expect.poll(() => deadline.isOver).toBe(true)
    await expect(deadline.without(async () => {})).rejects.toMatchObject(unavailable)
  })

  it('begins no statement when it is over, and commits no transaction', async () => {
    const { db, ids } = world
    expect(() => withBounds(world.core, { deadline: over() }).db.person).toThrow(expect.objectContaining(unavailable))
    const rename = (name: string) => `UPDATE "Person" SET "firstName" = '${name}' WHERE id = '${ids.member}'`

    for (const kind of ['$transaction', 'inTransaction'] as const) {
      const deadline = inTime()
      const late = withBounds(world.core, { deadline }).db
      const expire = () => Object.defineProperty(deadline, 'isOver', { value: true })
      const work =
        kind === '$transaction'
          ? late.$transaction(async (tx) => {
              await tx.$executeRawUnsafe(rename('Late'))
              expire()
            })
          : late.inTransaction(async (client: pg.ClientBase) => {
              await client.query(rename('Late'))
              expire()
            })
      await expect(work).rejects.toMatchObject(unavailable)
    }
    expect((await db.person.findUniqueOrThrow({ where: { id: ids.member } })).firstName).not.toBe('Late')
  })

  it('keeps Prisma, statements and transactions as they are', async () => {
    const { db } = withBounds(world.core, { deadline: inTime() })
    const { ids } = world
    const where = { id: ids.member }
    expect(await db.person.count({ where })).toBe(1)
    expect(await db.$queryRaw`SELECT ${'x'} AS x`).toEqual([{ x: 'x' }])
    expect(await db.$transaction((tx) => tx.person.count({ where }))).toBe(1)
    expect(await db.inTransaction(async (client) => (await client.query('SELECT 1 AS one')).rows)).toEqual([{ one: 1 }])
  })
})
