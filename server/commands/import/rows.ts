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
