import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { BUDGET_BYTES } from '../../server/http/memory-budget.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'

const MIB = 1024 * 1024

let world: World
beforeEach(async () => {
  world = await startWorld()
  for (const key of ['a', 'b', 'c']) {
    const { status } = await world.call('PUT', `/storage/large/${key}`, { body: { value: key.repeat(3 * MIB) } })
    expect(status).toBe(200)
  }
  await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
})
afterEach(() => world.close())

const page = (query = '') => world.call('GET', `/collections/large/entries${query}`)
const sizes = ({ items }: { items: { value: string }[] }) => items.map(({ value }) => value.length)

/** Lets another team hold all but so many bytes. */
const holdAllBut = (bytes: number) =>
  expect(world.memory.take('another team', world.memory.freeBytes - bytes)).toBe(true)

describe('a page of 9 MB', () => {
  it('reserves memory for it while it is rendered, and gives it back', async () => {
    expect(sizes((await page()).body)).toEqual([3 * MIB, 3 * MIB, 3 * MIB])
    await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
  })

  it('waits for memory, and goes on when there is some', async () => {
    const bytes = world.memory.freeBytes
    expect(world.memory.take('another team', bytes)).toBe(true)
    const waiting = page()
    await expect.poll(() => world.memory.waiting).toBe(1)
    world.memory.give('another team', bytes)
    expect(sizes((await waiting).body)).toEqual([3 * MIB, 3 * MIB, 3 * MIB])
    await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
  })

  it('waits while its own team holds more than it leaves free', async () => {
    const bytes = 0.75 * BUDGET_BYTES
    expect(world.memory.take(world.ids.team, bytes)).toBe(true)
    const waiting = page()
    await expect.poll(() => world.memory.waiting).toBe(1)
    world.memory.give(world.ids.team, bytes)
    expect(sizes((await waiting).body)).toEqual([3 * MIB, 3 * MIB, 3 * MIB])
  })

  it('needs none without values, and reserves for the entries of the page alone', async () => {
    holdAllBut(MIB)
    expect((await page('?values=false')).body.items).toHaveLength(3)
    expect((await page('?prefix=x')).body.items).toEqual([])
    await world.call('PUT', '/storage/large/0', { body: { value: 1 } })
    expect((await page('?limit=1')).body).toMatchObject({ items: [{ key: '0', value: 1 }], more: true })
  })
})
