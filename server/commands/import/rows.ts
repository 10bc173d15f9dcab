/** What is wrong with a row; `field` is empty for the row as a whole. */
export interface Refusal {
  field: string
  reason: string
}

/** A row of a file. One that cannot be read has a refusal, and its text or its cells as the record. */
export interface Row {
  /** Where it begins, from 1. */
  line: number
  record: unknown
  refusal?: Refusal
}

/** The last line of a file, which says how many rows are before it. */
export interface End {
  line: number
  rows: number
}

/** In CSV, where a spreadsheet may have added empty cells. */
export function rowsInCells([first, ...others]: readonly string[]): number | undefined {
  const count = /^# (\d{1,15}) rows?$/.exec(first!)?.[1]
  return count !== undefined && others.every((cell) => cell === '') ? Number(count) : undefined
}

/** In NDJSON; no record has a field of this name. */
export function rowsInRecord(record: unknown): number | undefined {
  const { rows } = Object(record)
  return Number.isSafeInteger(rows) && Object.keys(record as object).length === 1 ? rows : undefined
}

export const END_LINES = { csv: '# N rows', ndjson: '{"rows": N}' } as const
