/**
 * How long the service waits for the programs that it depends on, in milliseconds. A request that reaches a limit gets 503;
 * none is reached while all is well. The tests give their own, as a busy machine takes longer than production.
 */
export interface TimeLimits {
  /** For a place in the pool and for connecting, together. */
  placeMs: number
  /** For the answer on which readiness depends. */
  readyMs: number
  /** For the next byte on a connection in use: beyond `statementMs`, which a server keeps. */
  stalledMs: number
  /** Of a statement, as PostgreSQL's statement_timeout (session-limits.ts). */
  statementMs: number
  /** Of a transaction whose client sends nothing, as PostgreSQL's idle_in_transaction_session_timeout. */
  idleTransactionMs: number
  /** Of an interactive transaction of Prisma. */
  transactionMs: number
  /** For all that a request does between its token and its response: 6 s with the tick of routers/kernel/deadline.ts. */
  requestMs: number
  /** For the documents of an external issuer, together. */
  issuerMs: number
}

/** The values of production. */
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
