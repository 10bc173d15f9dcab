import { expect, it } from 'vitest'
import { MemoryLimit } from '../../server/limits/memory.ts'

function limitOf(points: number) {
  const clock = { ms: 0 }
  return { clock, limit: new MemoryLimit(points, 60, () => clock.ms) }
}

it('a limit counts each key in a window that begins with its first request', () => {
  const { clock, limit } = limitOf(2)
  expect(limit.take('a')).toEqual({ passes: true, remaining: 1, msBeforeNext: 60_000 })
  clock.ms = 20_000
  expect(limit.take('b')).toEqual({ passes: true, remaining: 1, msBeforeNext: 60_000 })
  expect(limit.take('a')).toEqual({ passes: true, remaining: 0, msBeforeNext: 40_000 })
  clock.ms = 59_999.5
  expect(limit.take('a')).toEqual({ passes: false, remaining: 0, msBeforeNext: 0.5 })
  clock.ms = 60_000
  expect(limit.take('a')).toEqual({ passes: true, remaining: 1, msBeforeNext: 60_000 })
  expect(limit.take('b')).toEqual({ passes: true, remaining: 0, msBeforeNext: 20_000 })
})

it('a point given back can be taken again in its window, and adds nothing to the next one', () => {
  const { clock, limit } = limitOf(1)
  limit.take('a')
  limit.giveBack('a')
  expect(limit.take('a').passes).toBe(true)
  expect(limit.take('a').passes).toBe(false)
  clock.ms = 60_000
  limit.giveBack('a')
  expect([limit.take('a').passes, limit.take('a').passes]).toEqual([true, false])
})

it('the windows of a flood are removed by half as many requests, two each', () => {
  const { clock, limit } = limitOf(1)
  for (let n = 0; n < 1_000; n++) limit.take(`flood${n}`)
  clock.ms = 60_000
  for (let n = 0; n < 10; n++) limit.take('other')
  expect(limit.size).toBe(1_000 - 20 + 1)
  for (let n = 10; n < 500; n++) limit.take('other')
  expect(limit.size).toBe(1)
  // Not yet removed, but ended.
  for (let n = 0; n < 5; n++) limit.take(`late${n}`)
  clock.ms = 120_000
  expect(limit.take('late4').passes).toBe(true)
  expect(limit.take('late4').passes).toBe(false)
})
