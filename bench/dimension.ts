import type { Bench } from './data/database.ts'
import type { RequestSet } from './load/process.ts'

/** A quantity of data that may be small or large. */
export interface Dimension {
  name: string
  sizes: readonly number[]
  /** Returns SQL that fills a bench's database. Foreign keys and triggers are off. */
  fill: (size: number) => string
  operations: readonly string[]
  requests?: (bench: Bench, operation: string, size: number) => RequestSet
  /** The allowed ratio of a request's cost to that at the smallest size, in place of growth.ts's. */
  target?: number
  /** The maximum requests per round, where lower than elsewhere: for one team, which may send 10,000 a minute. */
  most?: number
  /** Fewer than elsewhere, for requests that take longer. */
  connections?: number
}
