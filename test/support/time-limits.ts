import type { TimeLimits } from '../../prisma/time-limits.ts'

const MINUTE_MS = 60_000

/** A busy machine takes longer than production, and a test that expects 200 must not get a right 503. */
export const suiteLimits: TimeLimits = {
  placeMs: MINUTE_MS,
  readyMs: MINUTE_MS,
  stalledMs: MINUTE_MS,
  statementMs: MINUTE_MS,
  idleTransactionMs: MINUTE_MS,
  transactionMs: MINUTE_MS,
  requestMs: MINUTE_MS,
  issuerMs: MINUTE_MS,
}
