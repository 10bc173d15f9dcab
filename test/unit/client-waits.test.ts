import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { pause } from '../../clients/sdk/pause.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

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
