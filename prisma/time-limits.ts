/**
 * How long the service waits for its dependencies, in milliseconds. A request that reaches a limit gets 503. Tests pass their own
 * limits, as a busy machine takes longer than production.
 */
export interface TimeLimits {
  /** Waiting for a place in the pool and connecting, together. */
  placeMs: number
  /** The readiness probe. */
  readyMs: number
  /** The next byte on a connection in use; above `statementMs`, which the server enforces. */
  stalledMs: number
  /** One statement: PostgreSQL's statement_timeout (session-limits.ts). */
  statementMs: number
  /** A transaction whose client sends nothing: idle_in_transaction_session_timeout. */
  idleTransactionMs: number
  /** One of Prisma's interactive transactions. */
  transactionMs: number
  /** Everything a request does between its token and its response: 6 s with the tick of routers/kernel/deadline.ts. */
  requestMs: number
  /** All documents of an external issuer, together. */
  issuerMs: number
}

export const productionLimits: TimeLimits = {
  placeMs: 2_500,
  readyMs: 1_000,
  stalledMs: 5_500,
  statementMs: 5_000,
  idleTransactionMs: 30_000,
  transactionMs: 10_000,
  requestMs: 5_600,
  issuerMs: 2_500,
}
