/** Why a row is refused or doubted; `field` is empty for the row as a whole. */
export interface Refusal {
  field: string
  reason: string
}

/** A row of a file. An unreadable one has a refusal, and its text or cells as the record. */
export interface Row {
  /** The line where it begins, starting at 1. */
  line: number
  record: unknown
  refusal?: Refusal
  /** A value that is taken, and may not be what was meant. */
  doubt?: Refusal
}

export interface End {
  line: number
  rows: number
}

/** In CSV, where a spreadsheet may have added empty cells. */
export function rowsInCells([first, ...others]: readonly string[]): number | undefined {
  const count = /^# (\d{1,15}) rows?$/.exec(first!.trim())?.[1]
  return count !== undefined && others.every((cell) => cell.trim() === '') ? Number(count) : undefined
}

/** In NDJSON; no record has a field of this name. */
export function rowsInRecord(record: unknown): number | undefined {
  const { rows } = Object(record)
  return Number.isSafeInteger(rows) && Object.keys(record as object).length === 1 ? rows : undefined
}

export const END_LINES = { csv: '# N rows', ndjson: '{"rows": N}' } as const
