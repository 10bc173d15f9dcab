import type { Judged, Outcome } from './judge.ts'

export interface PartRecord {
  outcome: Outcome
  why?: string
  seconds: number
  /** Where there was more than one. */
  runs?: number
  /** Parts that chance decides have one. */
  seed?: number
  /** Shares of what each figure is held to, or the figure itself: the larger, the worse. */
  figures?: Record<string, number>
}

export interface Machine {
  cpu: string
  cores: number
  memoryGb: number
  system: string
  node: string
}

/** What a run of `npm run verify` leaves in docs/records. */
export interface VerifyRecord {
  commit: string
  /** Whether files differed from the commit. */
  changed?: true
  at: string
  machine: Machine
  /** Load average of a minute before and after. */
  load: [number, number]
  parts: Record<string, PartRecord>
}

export interface Finished extends Judged {
  name: string
  seconds: number
  seed?: number
}

/** `earlier`, of the same commit, lends its beginning and the parts that did not run again. */
export function toRecord(
  circumstances: Omit<VerifyRecord, 'parts'>,
  finished: readonly Finished[],
  earlier?: VerifyRecord,
): VerifyRecord {
  const parts = Object.fromEntries(finished.map((part) => [part.name, partRecord(part)]))
  return { ...circumstances, at: earlier?.at ?? circumstances.at, parts: { ...earlier?.parts, ...parts } }
}

function partRecord({ outcome, why, seconds, runs, seed, figures }: Finished): PartRecord {
  const shares = figures.map(({ name, value, bound = 1 }) => [name, rounded(value / bound)] as const)
  return {
    outcome,
    ...(why && { why }),
    seconds: Math.round(seconds),
    ...(runs > 1 && { runs }),
    ...(seed !== undefined && { seed }),
    ...(shares.length > 0 && { figures: Object.fromEntries(shares) }),
  }
}

const rounded = (ratio: number) => Number(ratio.toPrecision(3))

/** How many records are shown. */
export const SHOWN = 10

/** The last ones, in the order of time. */
export const selectLast = (records: readonly VerifyRecord[]) =>
  records.toSorted((a, b) => a.at.localeCompare(b.at)).slice(-SHOWN)

export const toFileName = ({ at, commit, changed }: Pick<VerifyRecord, 'at' | 'commit' | 'changed'>) =>
  `${at.slice(0, 10)}-${commit}${changed ? '-changed' : ''}.json`
