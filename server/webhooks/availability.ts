import type { Logger } from 'pino'

/** Longer than a query can hang: until then, connections that were lost as well are still to be found out. */
const SETTLED_MS = 6_000

export type Outage = ReturnType<typeof createOutage>

/** Says once that the database is away, and once that it is back for good. */
export function createOutage(log: Logger) {
  let failedAt: number | undefined
  return {
    failed(error: unknown) {
      if (failedAt === undefined) log.warn({ err: error }, 'deliveries wait for the database')
      failedAt = performance.now()
    },
    passed() {
      if (failedAt === undefined || performance.now() - failedAt < SETTLED_MS) return
      log.info('deliveries go on')
      failedAt = undefined
    },
  }
}
