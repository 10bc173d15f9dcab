import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
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
