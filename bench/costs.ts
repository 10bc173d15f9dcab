import { computeRatio, median } from './figures.ts'
import { rangeCell } from './table.ts'

/** A round: its rate, and CPU time per request in µs of each part that takes part. */
export interface Cost {
  perSecond: number
  parts: readonly (number | undefined)[]
}

/** Rows of an operation with the median costs of each contender, and the ratio of its sum to that of the first one. */
export function costRows(operation: string, names: readonly string[], costs: readonly Cost[][]): string[][] {
  const sums = costs.map((rounds) => rounds.map(({ parts }) => parts.reduce<number>((sum, µs) => sum + (µs ?? 0), 0)))
  return names.map((name, i) => {
    const rounds = costs[i]!
    const ratio = computeRatio(sums[0]!, sums[i]!)
    return [
      ...[i === 0 ? operation : '', name, median(rounds.map(({ perSecond }) => perSecond)).toFixed(0)],
      ...rounds[0]!.parts.map((µs, n) =>
        µs === undefined ? '' : median(rounds.map((round) => round.parts[n]!)).toFixed(0),
      ),
      ...(i === 0 ? ['', ''] : [ratio.median.toFixed(2), rangeCell(ratio, 2)]),
    ]
  })
}
