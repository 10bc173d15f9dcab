import type { Round } from './compare.ts'
import { ratioOf } from './figures.ts'

/** How far beyond its target a row may be: a short measurement, and a machine that does other things too. */
const TOLERANCE = 1.25

export interface CheckedRow {
  row: string
  target: number
  reached?: number | undefined
}

/** Of all rounds of a row; beyond is more than TOLERANCE times the target, or what has been reached beyond that. */
export function verdictOn(
  { row, target, reached = target }: CheckedRow,
  base: readonly Round[],
  other: readonly Round[],
) {
  const cpuOf = (rounds: readonly Round[]) => rounds.map(({ cpu }) => cpu)
  const { median, least, most } = ratioOf(cpuOf(base), cpuOf(other))
  const bound = Math.max(target, reached) * TOLERANCE
  const isBeyond = median > bound
  const figures = `${median.toFixed(2)} (${least.toFixed(2)} – ${most.toFixed(2)}, ${base.length} rounds)`
  const aim = reached > target ? `target ${target}, reached ${reached}` : `target ${target}`
  const end = isBeyond ? `: beyond ${TOLERANCE} of it` : ''
  return {
    isBeyond,
    figure: { name: row, value: median, unit: '×', bound },
    line: `${row.padEnd(18)} ${figures}, ${aim}${end}`,
  }
}
