import { beforeAll, describe, expect, inject, it } from 'vitest'
import { noteFigure } from '../../../bench/noted-figure.ts'
import { handlesOf } from '../../../bench/soak/figures.ts'
import { runSoak } from '../../../bench/soak/run.ts'
import { times } from '../../support/rounds.ts'
import { tellsFigures } from '../memory/process-figures.ts'
import { missingPrograms } from '../topology/start.ts'

const missing = [...missingPrograms(), ...(tellsFigures ? [] : ['/proc'])]

describe.skipIf(missing.length > 0)(`60 s of mixed load on two nodes and a worker ${missing.join(', ')}`, () => {
  let soak: Awaited<ReturnType<typeof runSoak>>
  beforeAll(async () => {
    // 200 requests a second: other files run beside.
    soak = await runSoak({ seconds: times(60, 20), server: inject('databaseUrl'), pauseMs: 40 })
  }, 600_000)

  it('answers every operation as it has to, and none with a 5xx; logs no error', () => {
    expect(soak.failures).toEqual([])
    expect(soak.requests).toBeGreaterThan(500)
  })

  it('refuses the bad input in between, signs members in, and delivers', () => {
    expect(Object.keys(soak.answered['bad input']!).length).toBeGreaterThan(3)
    expect(soak.signIns).toBeGreaterThan(3)
    expect(soak.deliveries).toBeGreaterThan(10)
  })

  it.each(['node-1', 'node-2', 'worker'])('%s keeps its memory, handles, files and listeners', (name) => {
    const { rss, before, after } = soak.held.find((one) => one.process === name)!
    const [, second, , last] = rss
    // The quarter of an hour of `npm run soak` has to do with 10 %; in 60 s a process is still young.
    noteFigure({ name: `${name}, memory`, value: last!, unit: 'MB', bound: second! * 1.1 + 16 })
    expect(last).toBeLessThanOrEqual(second! * 1.1 + 16)
    // A pool may have opened the rest of its connections meanwhile.
    expect(handlesOf(after), JSON.stringify(after.handles)).toBeLessThanOrEqual(handlesOf(before) + 10)
    expect(after.files).toBeLessThanOrEqual(before.files + 10)
    expect(after.listeners).toBeLessThanOrEqual(before.listeners)
    expect(after.warnings).toBe(before.warnings)
  })
})
