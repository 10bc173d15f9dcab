import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { later } from '../../clients/first-party/later.ts'
import { pause } from '../../clients/sdk/pause.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

it('the first-party client waits as long as it says, unless the wait is ended', () => {
  const ran: string[] = []
  later(1_000, () => ran.push('first'))
  const end = later(1_000, () => ran.push('second'))
  vi.advanceTimersByTime(999)
  expect(ran).toEqual([])
  end()
  vi.advanceTimersByTime(1)
  expect(ran).toEqual(['first'])
  expect(vi.getTimerCount()).toBe(0)
})

it('the SDK waits as long as it says, and no longer than its signal', async () => {
  const ran: unknown[] = []
  const ending = new AbortController()
  const first = pause(1_000).then(() => ran.push('first'))
  const second = pause(1_000, ending.signal).catch((reason) => ran.push(reason))
  const third = pause(1_000, ending.signal).catch((reason) => ran.push(reason))
  await vi.advanceTimersByTimeAsync(999)
  expect(ran).toEqual([])
  ending.abort('Enough.')
  await Promise.all([second, third])
  expect(ran).toEqual(['Enough.', 'Enough.'])
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(1)
  await first
  await expect(pause(1_000, ending.signal)).rejects.toBe('Enough.')
  expect(vi.getTimerCount()).toBe(0)
})
