/**
 * How long the service waits for the programs that it depends on, in milliseconds. A request that reaches a limit gets 503;
 * none is reached while all is well. The tests give their own, as a busy machine takes longer than production.
 */
export interface TimeLimits {
  /** For a place in the pool and for connecting, together; also for each try to connect. */
  placeMs: number
  /** After this long without an answer to a query, the database is asked over another connection. */
  suspiciousMs: number
  /** For the answer to that: with `suspiciousMs`, requests to a silent database fail after 2.3 s. */
  silentMs: number
  /** For the answer on which readiness depends. */
  readyMs: number
  /** For a query on a connection that has lost its server while others answer: beyond `statementMs`, which a server keeps. */
  stalledMs: number
  /** Of a statement, as PostgreSQL's statement_timeout (session-limits.ts). */
  statementMs: number
  /** Of a transaction whose client sends nothing, as PostgreSQL's idle_in_transaction_session_timeout. */
  idleTransactionMs: number
  /** Of an interactive transaction of Prisma. */
  transactionMs: number
  /** For all that a request does between its token and its response (routers/kernel/deadline.ts). */
  requestMs: number
  /** For each document of an external issuer. */
  issuerMs: number
}

/** The values of production. */
export const productionLimits: TimeLimits = {
  placeMs: 2_500,
  suspiciousMs: 500,
  silentMs: 1_500,
  readyMs: 1_000,
  stalledMs: 5_500,
  statementMs: 5_000,
  idleTransactionMs: 30_000,
  transactionMs: 10_000,
  requestMs: 6_000,
  issuerMs: 2_500,
}
