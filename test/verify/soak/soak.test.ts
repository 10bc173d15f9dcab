import { beforeAll, describe, expect, it } from 'vitest'
import { emptyDatabase } from '../../support/databases.ts'
import { times } from '../../support/rounds.ts'
import { endingAfterAll } from '../at-end.ts'
import { holdFigure } from '../held-figure.ts'
import { tellsFigures } from '../memory/process-figures.ts'
import { missingPrograms } from '../topology/start.ts'
import { PROCESSES, runSoak } from './run.ts'

const missing = [...missingPrograms(), ...(tellsFigures ? [] : ['/proc'])]
/** `MINUTES=15 npx vitest run --project verify test/verify/soak/` is a longer one. */
const { MINUTES } = process.env
const seconds = MINUTES ? Number(MINUTES) * 60 : times(60, 20)
/** MB beside 10 %: in 60 s a process is still young, in a quarter of an hour it has to do with 10 %. */
const YOUNG = seconds < 900 ? 16 : 0

describe.skipIf(missing.length > 0)(
  `${seconds} s of mixed load on two nodes and a worker ${missing.join(', ')}`,
  () => {
    const atEnd = endingAfterAll()
    let soak: Awaited<ReturnType<typeof runSoak>>
    beforeAll(
      async () => {
        soak = await runSoak(seconds, await emptyDatabase(atEnd))
      },
      600_000 + seconds * 1000,
    )

    it('answers every operation as it has to, and none with a 5xx; logs no error', () => {
      expect(soak.failures).toEqual([])
      expect(Object.values(soak.answered).reduce((sum, count) => sum + count)).toBeGreaterThan(500)
    })

    it('refuses the bad input in between, signs members in, and delivers', () => {
      expect(soak.badStatuses.size).toBeGreaterThan(3)
      expect(soak.signIns).toBeGreaterThan(3)
      expect(soak.deliveries).toBeGreaterThan(10)
    })

    it.each(PROCESSES)('%s keeps its memory, handles, files and listeners', (name) => {
      const { rss, before, after } = soak.held[PROCESSES.indexOf(name)]!
      const [, second, , last] = rss
      const bound = second! * 1.1 + YOUNG
      holdFigure(`${name}, memory`, last!, 'MB', bound)
      // A pool may have opened the rest of its connections meanwhile.
      expect(after.handles).toBeLessThanOrEqual(before.handles + 10)
      expect(after.files).toBeLessThanOrEqual(before.files + 10)
      expect(after.listeners).toBeLessThanOrEqual(before.listeners)
      expect(after.warnings).toBe(before.warnings)
    })
  },
)
