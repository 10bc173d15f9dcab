import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabaseClock } from '../../server/process/database-clock.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { sharedDatabase } from '../support/world.ts'

const HOURS_MS = 7_200_000

/** On a machine whose clock is ahead by so much; the database's is that of the test. */
async function openClock({ aheadMs = 0, db = sharedDatabase() } = {}) {
  const machine = { aheadMs }
  const lines: { level: string; msg: string }[] = []
  const log = {
    warn: (msg: string) => void lines.push({ level: 'warn', msg }),
    info: (msg: string) => void lines.push({ level: 'info', msg }),
  }
  const clock = await openDatabaseClock(db, { log: log as never, machine: () => Date.now() + machine.aheadMs })
  onTestFinished(clock.close)
  return { clock, machine, lines }
}

/** `now` lies between readings of the right clock, apart from the milliseconds that the database took to answer. */
function expectRight(now: () => number, uncertainMs = 0) {
  const before = Date.now()
  const time = now()
  expect(time).toBeGreaterThanOrEqual(before - uncertainMs)
  expect(time).toBeLessThanOrEqual(Date.now() + uncertainMs)
}

describe("the database's clock", () => {
  it("is this machine's where the two agree", async () => {
    const { clock, lines } = await openClock()
    expectRight(clock.now)
    expect(Math.abs(clock.aheadSeconds())).toBe(0)
    expect(lines).toEqual([])
  })

  it.each([
    [HOURS_MS, 'ahead of'],
    [-HOURS_MS, 'behind'],
  ])('goes on a machine whose own is off by %i ms, and is logged once', async (aheadMs, words) => {
    const before = Date.now()
    const { clock, lines } = await openClock({ aheadMs })
    // Readings are whole milliseconds.
    const uncertainMs = Date.now() - before + 2
    expectRight(clock.now, uncertainMs)
    expect(Math.abs(clock.aheadSeconds() * 1_000 - aheadMs)).toBeLessThanOrEqual(uncertainMs)
    await clock.measure()
    const msg = expect.stringMatching(
      new RegExp(`^the clock of this machine is 7\\d{3}\\.\\d s ${words} the database's, by which the service goes: `),
    )
    expect(lines).toEqual([{ level: 'warn', msg }])
  })

  it('stays right while somebody sets that of the machine, and tells when that is right again', async () => {
    const { clock, machine, lines } = await openClock()
    machine.aheadMs = HOURS_MS
    expectRight(clock.now, 1)
    expect(Math.round(clock.aheadSeconds())).toBe(7_200)
    expect(lines).toEqual([])
    await clock.measure()
    machine.aheadMs = 0
    expectRight(clock.now, 1)
    // Half a millisecond behind is rounded to -0.
    expect(Math.abs(Math.round(clock.aheadSeconds()))).toBe(0)
    await clock.measure()
    await clock.measure()
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'info'])
    expect(lines[1]!.msg).toBe('the clock of this machine is right')
  })

  it('keeps the last correction while the database is away, and is not to be had when it never answered', async () => {
    const db = openTestDatabase('postgresql://postgres@127.0.0.1:1/none')
    onTestFinished(() => db.$disconnect())
    await expect(openDatabaseClock(db)).rejects.toThrow()
    let isAway = false
    const failing = { execute: (...given: [never, never]) => (isAway ? db : sharedDatabase()).execute(...given) }
    const { clock } = await openClock({ aheadMs: HOURS_MS, db: failing as never })
    isAway = true
    await expect(clock.measure()).rejects.toThrow()
    expect(Math.round(clock.aheadSeconds())).toBe(7_200)
  })
})
