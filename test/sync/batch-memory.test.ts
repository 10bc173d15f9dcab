import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BUDGET_BYTES } from '../../server/http/memory-budget.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'

const MIB = 1024 * 1024
const keys = ['a', 'b', 'c']

let world: World
beforeEach(async () => {
  world = await startWorld()
  await batch(keys.map((key) => ({ op: 'put', collection: 'large', key, value: key.repeat(3 * MIB) })))
  await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
})
afterEach(() => world.close())

const batch = (operations: object[]) => world.call('POST', '/batch', { body: { operations } })
const gets = keys.map((key) => ({ op: 'get', collection: 'large', key }))
const sizes = (results: { value: string }[]) => results.map(({ value }) => value.length)

describe('a batch that reads 9 MB', () => {
  it('reserves memory for it while it is rendered, and gives it back', async () => {
    expect(sizes((await batch(gets)).body.results)).toEqual([3 * MIB, 3 * MIB, 3 * MIB])
    await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
  })

  it('waits for memory before it stores anything, and then stores once', async () => {
    const bytes = world.memory.freeBytes
    expect(world.memory.take('another team', bytes)).toBe(true)
    const waiting = batch([{ op: 'put', collection: 'small', key: 'k', value: 1, ifNoneMatch: '*' }, ...gets])
    await expect.poll(() => world.memory.waiting).toBe(1)
    const where = { appId: world.ids.app, collection: 'small' }
    expect(await world.db.storageEntry.count({ where })).toBe(0)
    world.memory.give('another team', bytes)
    expect((await waiting).body.results).toHaveLength(4)
    expect(await world.db.storageChange.count({ where })).toBe(1)
    await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
  })

  it('may replace as much in the same transaction', async () => {
    const puts = gets.map((get) => ({ ...get, op: 'put', value: 'x'.repeat(3 * MIB) }))
    const { status, body } = await batch([...gets, ...puts])
    expect([status, body.results.length]).toEqual([200, 6])
    expect(sizes((await batch(gets)).body.results)).toEqual([3 * MIB, 3 * MIB, 3 * MIB])
    await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
  })
})

describe('a batch of small values', () => {
  it('needs no memory of the budget', async () => {
    expect(world.memory.take('another team', world.memory.freeBytes)).toBe(true)
    const operations = [
      { op: 'put', collection: 'small', key: 'k', value: 1 },
      { op: 'get', collection: 'small', key: 'k' },
    ]
    expect((await batch(operations)).status).toBe(200)
  })
})
