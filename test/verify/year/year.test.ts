import { beforeAll, describe, expect, it } from 'vitest'
import { seed } from '../../support/chance.ts'
import { endingAfterAll } from '../at-end.ts'
import { holdFigure } from '../held-figure.ts'
import { tellsFigures } from '../memory/process-figures.ts'
import { noteFigure } from '../noted-figure.ts'
import { lacking } from '../topology/program.ts'
import { largeScans } from './plans.ts'
import { writeRecord } from './record.ts'
import type { Year } from './run.ts'
import { playYear } from './run.ts'
import { oldestDays, readBloat } from './sizes.ts'
import { bounds } from './tables.ts'

const missing = [...lacking('faketime'), ...(tellsFigures ? [] : ['/proc'])]
/** `DAYS=5 npx vitest run --project verify test/verify/year/` is a try. */
const days = Number(process.env.DAYS ?? 365)
/** The last day's figures to the first's, or to those of the middle of the year. */
const GROWTH = 1.2
/** What a few rows more take: tables and indexes grow by pages of 8 KB, free space maps by three. */
const PAGES_BYTES = 500_000
/**
 * Random keys leave a B-tree two thirds full, 1.35 of a new one. Keys that come in order and are removed in order leave whole pages,
 * which are used again; what stays behind of them thins pages out. Beyond 2.5 an index wants REINDEX. A new one is for as many rows
 * as the table was seen with: after a night that removes much, the pages wait for what comes.
 */
const BLOAT = 2.5

describe.skipIf(missing.length > 0)(`${days} days of a platform (seed ${seed}) ${missing.join(', ')}`, () => {
  const atEnd = endingAfterAll()
  let year: Year
  beforeAll(
    async () => {
      year = await playYear(atEnd, days)
    },
    // The part ends after its minutes; a day takes 10 s alone, and 25 beside two other parts.
    600_000 + days * 60_000,
  )

  it('log no error, and deliver', () => {
    expect(year.world.failures).toEqual([])
    expect(year.world.received()).toBeGreaterThan(days * 10)
    noteFigure({ name: 'a day', value: year.secondsOfDay, unit: 's' })
  })

  it.each(['node', 'worker'] as const)('leave the %s the memory of the first day', (name) => {
    for (const [what, title] of [
      ['rss', 'memory'],
      ['heap', 'heap'],
    ] as const) {
      const { first, last } = year.memory(name, what)
      holdFigure(`${name}, ${title}`, last, 'MB', first * GROWTH)
    }
  })

  it('are written to tables whose growth somebody has thought of', () => {
    expect([...year.tables.keys()].toSorted()).toEqual(Object.keys(bounds).toSorted())
  })

  it('leave no row for longer than it is kept', async () => {
    for (const [table, bound] of Object.entries(bounds)) {
      if (typeof bound !== 'object' || !('kept' in bound)) continue
      // A day more: housekeeping has run in the night.
      const oldest = await oldestDays(year.world.databaseUrl, table, bound.by)
      expect.soft(oldest, table).toBeLessThan(bound.kept + 1)
    }
  })

  it.each(Object.entries(bounds))('let %s grow as said', (table, bound) => {
    const { middle, last } = year.tables.get(table)!
    if (bound === 'still') expect(last.rows).toBeLessThanOrEqual(middle.rows)
    // Before the middle, a table whose rows stay for longer was still filling.
    else if ('kept' in bound && days / 2 > (bound.fills ?? bound.kept) + 2)
      expect(last.bytes).toBeLessThan(middle.bytes * GROWTH + PAGES_BYTES)
    const perRow = middle.bytes / Math.max(middle.rows, 1)
    expect(last.bytes).toBeLessThan(last.rows * perRow * GROWTH + PAGES_BYTES)
  })

  it('leave indexes that are not much larger than new ones', async () => {
    const found = await readBloat(year.world.databaseUrl)
    const bloat = found
      .map((one) => ({ ...one, times: (one.times * year.tables.get(one.table)!.last.rows) / year.fullest(one.table) }))
      .toSorted((a, b) => b.times - a.times)
    for (const { name, times } of bloat) expect.soft(times, name).toBeLessThan(BLOAT)
    holdFigure('the worst index', bloat[0]?.times ?? 1, '×', BLOAT)
    await writeRecord(year, bloat)
  })

  it('leave the statements of a day their plans', () => {
    expect(year.scans.length).toBeGreaterThan(1_000)
    expect(largeScans(year)).toEqual([])
  })
})
