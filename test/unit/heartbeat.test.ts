import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Heartbeat } from '../../server/http/heartbeat.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const turn = () => new Promise((resolve) => setImmediate(resolve))

it('a heartbeat calls each stream once a period, 50 in a turn of the event loop, and ends with the last stream', async () => {
  const heartbeat = new Heartbeat(15_000)
  const beats = Array<number>(120).fill(0)
  const stops = beats.map((_, n) => heartbeat.add(() => beats[n]!++))
  const sum = () => beats.reduce((all, n) => all + n)
  expect(vi.getTimerCount()).toBe(1)
  vi.advanceTimersByTime(14_999)
  expect(sum()).toBe(0)
  vi.advanceTimersByTime(1)
  const sums = [sum()]
  for (let turns = 0; turns < 3; turns++) sums.push(await turn().then(sum))
  expect(sums).toEqual([50, 100, 120, 120])

  // One that leaves between two turns is not called again.
  vi.advanceTimersByTime(15_000)
  stops[60]!()
  stops[60]!()
  for (let turns = 0; turns < 3; turns++) await turn()
  expect([beats[59], beats[60], beats[61]]).toEqual([2, 1, 2])
  for (const stop of stops) stop()
  expect(vi.getTimerCount()).toBe(0)
})
