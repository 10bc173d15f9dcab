import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { InFlight } from '../../prisma/in-flight.ts'
import { SharedReadings } from '../../routers/kernel/shared-readings.ts'
import { withStoreLock } from '../../routers/storage/store-lock.ts'

const store = { app: 'app', club: 'club' }
const never = () => new Promise<never>(() => {})

describe('withStoreLock', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('refuses with 503 the writer that has waited for 10 s, and not before', async () => {
    const held = { app: 'app', club: 'held' }
    for (const write of [never, never]) void withStoreLock(held, write)
    const ended = vi.fn()
    const waiting = withStoreLock(held, never).catch(ended)
    await vi.advanceTimersByTimeAsync(9_999)
    expect(ended).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    await waiting
    expect(ended).toHaveBeenCalledWith(expect.objectContaining({ status: 503, publicCode: 'unavailable' }))
  })

  it('runs the next writer when one ends, skipping those that have given up', async () => {
    const ends: (() => void)[] = []
    const order: string[] = []
    const writer = (name: string) =>
      withStoreLock(store, () => {
        order.push(name)
        return new Promise<void>((resolve) => ends.push(resolve))
      })
    const first = [writer('a'), writer('b')]
    const late = writer('late').catch(() => order.push('late gave up'))
    await vi.advanceTimersByTimeAsync(5_000)
    const next = writer('next')
    await vi.advanceTimersByTimeAsync(5_000)
    await late
    expect(order).toEqual(['a', 'b', 'late gave up'])
    ends[0]!()
    await first[0]
    await vi.advanceTimersByTimeAsync(0)
    expect(order).toEqual(['a', 'b', 'late gave up', 'next'])
    for (const end of ends) end()
    ends[2]!()
    await Promise.all([...first, next])
  })

  it('lets other stores write meanwhile', async () => {
    const busy = { app: 'app', club: 'busy' }
    for (const write of [never, never]) void withStoreLock(busy, write)
    expect(await withStoreLock({ app: 'app', club: 'other' }, async () => 'written')).toBe('written')
    expect(await withStoreLock({ app: 'other', club: 'busy' }, async () => 'written')).toBe('written')
  })
})

/** A reading that counts how often it was begun and ended. */
function counted() {
  const counts = { begun: 0, ended: 0 }
  const read = async () => {
    counts.begun++
    return { page: { number: counts.begun }, end: () => void counts.ended++ }
  }
  return { counts, read }
}

describe('a shared reading', () => {
  it('is one for all who want the same, also later, while one of them holds it', async () => {
    const { counts, read } = counted()
    const readings = new SharedReadings()
    const first = await Promise.all([readings.take('a', read), readings.take('a', read)])
    const third = await readings.take('a', read)
    expect(new Set([...first, third].map(({ page }) => page)).size).toBe(1)
    for (const held of first) held.release()
    expect(counts).toEqual({ begun: 1, ended: 0 })
    third.release()
    third.release()
    expect(counts).toEqual({ begun: 1, ended: 1 })
    expect((await readings.take('a', read)).page).toEqual({ number: 2 })
  })

  it('is another for another key', async () => {
    const { counts, read } = counted()
    const readings = new SharedReadings()
    await Promise.all([readings.take('a', read), readings.take('b', read)])
    expect(counts.begun).toBe(2)
  })

  it('that fails, fails for all who want it, and is begun again by the next', async () => {
    const { read } = counted()
    const readings = new SharedReadings()
    const fail = () => Promise.reject(new Error('failed'))
    const both = await Promise.allSettled([readings.take('a', fail), readings.take('a', fail)])
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect((await readings.take('a', read)).page).toEqual({ number: 1 })
  })

  it('is out of reach for a reader that has released it', async () => {
    const held = await new SharedReadings().take('a', counted().read)
    held.release()
    expect(() => held.page).toThrow('released')
  })
})

it('what is under way has each item until it is removed, and removing it again removes no other', () => {
  const underWay = new InFlight<{ name: string }>()
  const names = () => underWay.items().map(({ name }) => name)
  const removeFirst = underWay.add({ name: 'first' })
  const removeSecond = underWay.add({ name: 'second' })
  expect([names(), underWay.size]).toEqual([['first', 'second'], 2])
  removeFirst()
  expect([names(), underWay.size]).toEqual([['second'], 1])
  const removeThird = underWay.add({ name: 'third' })
  removeFirst()
  expect([names().sort(), underWay.size]).toEqual([['second', 'third'], 2])
  removeSecond()
  removeThird()
  expect([names(), underWay.size]).toEqual([[], 0])
})
