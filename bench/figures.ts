import { appendFileSync } from 'node:fs'

/** The smallest number that at least `share` of all do not exceed: 0.99 gives p99. */
export function percentile(numbers: readonly number[] | Float64Array, share: number): number {
  const sorted = numbers.toSorted((a: number, b: number) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!
}

/** For an even count, the upper one of the two in the middle. */
export const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!

export interface Spread {
  median: number
  least: number
  most: number
}

export const computeSpread = (numbers: readonly number[]): Spread => ({
  median: median(numbers),
  least: Math.min(...numbers),
  most: Math.max(...numbers),
})

/**
 * How many times as much as `base` the other takes: the ratio of the medians, and the smallest and largest ratio of consecutive
 * rounds.
 */
export function computeRatio(base: readonly number[], other: readonly number[]): Spread {
  const { least, most } = computeSpread(other.map((number, round) => number / base[round]!))
  return { median: median(other) / median(base), least, most }
}

/** A line of JSON for `npm run verify`, which adds the file; larger values are worse. */
export function noteFigure(figure: { name: string; value: number; unit: string; bound?: number }): void {
  if (process.env.FIGURES) appendFileSync(process.env.FIGURES, `${JSON.stringify(figure)}\n`)
}
