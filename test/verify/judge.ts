import type { NotedFigure } from './noted-figure.ts'
import type { Kind } from './parts.ts'
import type { Ran } from './run-commands.ts'

export type Outcome = 'passed' | 'failed' | 'flaky' | 'not judged' | 'not run' | 'stopped'

export interface Judged {
  outcome: Outcome
  why?: string
  runs: number
  figures: NotedFigure[]
}

const MAX_RUNS: Record<Kind, number> = { plain: 1, chance: 2, figures: 3 }
const endings = { late: 'failed', stopped: 'stopped', unfetched: 'not run' } as const

/**
 * Runs a part, again where that says more: chance that was red once; figures until a run was quiet before and after, as
 * others are not judged. Red twice is a fault, red once and then green is flaky.
 */
export async function judge(kind: Kind, run: () => Promise<Ran>, isQuiet: () => Promise<boolean>): Promise<Judged> {
  const isMeasured = kind === 'figures'
  let runs = 0
  let red: Ran | undefined
  let figures: NotedFigure[] = []
  const judged = (outcome: Outcome, why?: string): Judged => ({ outcome, runs, figures, ...(why && { why }) })
  for (let turn = 0; turn < MAX_RUNS[kind]; turn++) {
    const wasQuiet = !isMeasured || (await isQuiet())
    // Once is enough for figures that are only recorded.
    if (!wasQuiet && runs > 0) continue
    const ran = await run()
    runs++
    figures = ran.figures
    if (ran.end !== 'green' && ran.end !== 'red') return judged(endings[ran.end], ran.why)
    if (!wasQuiet || (isMeasured && !(await isQuiet()))) continue
    if (ran.end === 'green') return red ? judged('flaky', red.why) : judged('passed')
    if (red) return judged('failed', ran.why)
    red = ran
  }
  if (!red) return judged('not judged', 'the machine was not quiet')
  figures = red.figures
  return judged('failed', red.why)
}
