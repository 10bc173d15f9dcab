import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BUDGET_BYTES, MAX_LEASE_BYTES, MAX_WAITING, MemoryBudget } from '../../server/http/memory-budget.ts'
import { Lease } from '../../server/http/memory-lease.ts'

const MB = 1024 * 1024
/** Held for a response of 10 MiB while it is rendered. */
const LARGE = 50 * MB
const unavailable = { status: 503, headers: { 'Retry-After': '2' } }

const response = () => new ServerResponse(new IncomingMessage(new Socket()))

let budget: MemoryBudget
beforeEach(() => {
  vi.useFakeTimers()
  budget = new MemoryBudget()
})
afterEach(() => {
  vi.useRealTimers()
})

const lease = (team: string | null = 'a', to = response()) => new Lease(budget, to, team)

/** Whether a promise is resolved or rejected by now. */
async function readState(promise: Promise<unknown>): Promise<'pending' | 'resolved' | 'rejected'> {
  let state: 'pending' | 'resolved' | 'rejected' = 'pending'
  promise.then(
    () => {
      state = 'resolved'
    },
    () => {
      state = 'rejected'
    },
  )
  await vi.advanceTimersByTimeAsync(0)
  return state
}

describe('a team', () => {
  it('holds at most as much as it leaves free', () => {
    expect(budget.take('a', 90 * MB)).toBe(true)
    expect(budget.take('a', 6 * MB)).toBe(true)
    expect(budget.take('a', 1)).toBe(false)
    expect(budget.freeBytes).toBe(96 * MB)
  })

  it('that holds nothing gets whatever is free', () => {
    budget.take('a', 96 * MB)
    expect(budget.take('b', 96 * MB)).toBe(true)
    expect(budget.take('c', 1)).toBe(false)
  })

  it('of first-party clients has a share of its own', () => {
    budget.take('a', 96 * MB)
    expect(budget.take(null, 40 * MB)).toBe(true)
    expect(budget.take(null, 40 * MB)).toBe(false)
  })
})

describe('a request that holds nothing', () => {
  it('waits until others give memory back, in the order of arrival', async () => {
    budget.take('a', BUDGET_BYTES)
    const [first, second] = [lease('b').reserve(10 * MB, 'response'), lease('c').reserve(10 * MB, 'response')]
    expect([await readState(first), await readState(second)]).toEqual(['pending', 'pending'])
    budget.give('a', LARGE)
    expect([await readState(first), await readState(second)]).toEqual(['resolved', 'pending'])
    budget.give('a', BUDGET_BYTES - LARGE)
    expect(await readState(second)).toBe('resolved')
  })

  it('does not wait for a team that waits for its own share', async () => {
    budget.take('a', 96 * MB)
    const own = lease('a').reserve(10 * MB, 'response')
    expect(await readState(own)).toBe('pending')
    expect(await readState(lease('b').reserve(10 * MB, 'response'))).toBe('resolved')
    expect(await readState(own)).toBe('pending')
    budget.give('a', 96 * MB)
    expect(await readState(own)).toBe('resolved')
  })

  it('is admitted ahead of an earlier one that does not fit yet', async () => {
    budget.take('a', 96 * MB)
    budget.take('b', 96 * MB)
    const [first, second] = [lease('a').reserve(10 * MB, 'response'), lease('c').reserve(10 * MB, 'response')]
    expect([await readState(first), await readState(second)]).toEqual(['pending', 'pending'])
    budget.give('b', LARGE)
    expect([await readState(first), await readState(second)]).toEqual(['pending', 'resolved'])
  })

  it.each([
    ['text', 10_000],
    ['parsed', 10_000],
    ['response', 30_000],
  ] as const)('gets 503 for a %s body after %i ms', async (use, waitMs) => {
    budget.take('b', BUDGET_BYTES)
    const waiting = lease().reserve(MB, use)
    waiting.catch(() => {})
    await vi.advanceTimersByTimeAsync(waitMs - 1)
    expect(await readState(waiting)).toBe('pending')
    await vi.advanceTimersByTimeAsync(1)
    await expect(waiting).rejects.toMatchObject(unavailable)
    budget.give('b', BUDGET_BYTES)
    expect(budget.freeBytes).toBe(BUDGET_BYTES)
  })

  it(`gets 503 at once behind ${MAX_WAITING} of its team`, async () => {
    budget.take('b', BUDGET_BYTES)
    const waiting = Array.from({ length: MAX_WAITING }, () => lease().reserve(MB, 'text'))
    for (const one of waiting) one.catch(() => {})
    await expect(lease().reserve(MB, 'text')).rejects.toMatchObject(unavailable)
    expect(await readState(lease('c').reserve(MB, 'text'))).toBe('pending')
    await vi.advanceTimersByTimeAsync(10_000)
    expect(await readState(lease().reserve(MB, 'text'))).toBe('pending')
  })

  it('gets memory for a body that is larger than any lease', async () => {
    await lease().reserve(1024 * MB, 'response')
    expect(budget.freeBytes).toBe(BUDGET_BYTES - MAX_LEASE_BYTES)
  })

  it('gives memory back at once when its client has left meanwhile', async () => {
    const left = response()
    budget.take('b', BUDGET_BYTES)
    const waiting = lease('a', left).reserve(MB, 'text')
    left.destroy()
    budget.give('b', BUDGET_BYTES)
    await expect(waiting).rejects.toMatchObject(unavailable)
    expect(budget.freeBytes).toBe(BUDGET_BYTES)
  })
})

describe('a response that is rendered without a reservation', () => {
  it('holds its bytes until it is sent', () => {
    const to = response()
    lease('a', to).hold(MB)
    expect(budget.freeBytes).toBe(BUDGET_BYTES - MB)
    to.emit('close')
    expect(budget.freeBytes).toBe(BUDGET_BYTES)
  })

  it('is 503 without free memory', () => {
    budget.take('b', BUDGET_BYTES)
    expect(() => lease().hold(MB)).toThrow(expect.objectContaining({ status: 503 }))
  })
})

describe('a request that holds memory', () => {
  it('gets what is free at once, and 503 for what is not', async () => {
    const batch = lease()
    const calls = Array.from({ length: 10 }, () => batch.reserve(3 * MB, 'response'))
    const states = await Promise.all(calls.map(readState))
    expect(states.filter((state) => state === 'resolved')).toHaveLength(6)
    expect(states.filter((state) => state === 'rejected')).toHaveLength(4)
    await expect(calls[9]).rejects.toMatchObject(unavailable)
  })

  it('waits once for all calls of its batch', async () => {
    budget.take('b', BUDGET_BYTES)
    const batch = lease()
    const calls = [batch.reserve(3 * MB, 'response'), batch.reserve(3 * MB, 'response')]
    expect(await Promise.all(calls.map(readState))).toEqual(['pending', 'pending'])
    budget.give('b', BUDGET_BYTES)
    expect(await Promise.all(calls.map(readState))).toEqual(['resolved', 'resolved'])
  })

  it('holds its response alone once that is rendered, and nothing when it is sent', async () => {
    const to = response()
    const held = lease('a', to)
    await held.reserve(10 * MB, 'response')
    expect(budget.freeBytes).toBe(BUDGET_BYTES - LARGE)
    held.rendered(10 * MB)
    expect(budget.freeBytes).toBe(BUDGET_BYTES - 10 * MB)
    to.emit('close')
    expect(budget.freeBytes).toBe(BUDGET_BYTES)
  })

  it('keeps it while its calls run, also if its client has left', async () => {
    const to = response()
    const held = lease('a', to)
    await held.reserve(10 * MB, 'response')
    to.destroy()
    to.emit('close')
    expect(budget.freeBytes).toBe(BUDGET_BYTES - LARGE)
    held.rendered(10 * MB)
    expect(budget.freeBytes).toBe(BUDGET_BYTES)
  })

  it('takes no more once its client has left', async () => {
    const to = response()
    const held = lease('a', to)
    await held.reserve(MB, 'response')
    to.destroy()
    held.rendered(0)
    await expect(held.reserve(MB, 'response')).rejects.toMatchObject(unavailable)
    expect(budget.freeBytes).toBe(BUDGET_BYTES)
  })
})
