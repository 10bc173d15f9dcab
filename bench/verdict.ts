import type { Round } from './compare.ts'
import { ratioOf } from './figures.ts'

/** How far beyond its target a row may be: a short measurement, and a machine that does other things too. */
const TOLERANCE = 1.25

/** Of all rounds of a row. */
export function verdictOn(row: string, target: number, base: readonly Round[], other: readonly Round[]) {
  const cpuOf = (rounds: readonly Round[]) => rounds.map(({ cpu }) => cpu)
  const { median, least, most } = ratioOf(cpuOf(base), cpuOf(other))
  const isBeyond = median > target * TOLERANCE
  const figures = `${median.toFixed(2)} (${least.toFixed(2)} – ${most.toFixed(2)}, ${base.length} rounds)`
  const end = isBeyond ? `: beyond ${TOLERANCE} of it` : ''
  return { isBeyond, line: `${row.padEnd(18)} ${figures}, target ${target}${end}` }
}
