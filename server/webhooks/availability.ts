import type { Logger } from 'pino'

/** Longer than a query can hang: until then, other connections may still turn out to be lost. */
const SETTLED_MS = 6_000

export type Availability = ReturnType<typeof createAvailability>

/** Logs once that the database is unavailable, and once that it has recovered. */
export function createAvailability(log: Logger) {
  let failedAt: number | undefined
  return {
    down(error: unknown) {
      if (failedAt === undefined) log.warn({ err: error }, 'deliveries are paused: the database is unavailable')
      failedAt = performance.now()
    },
    up() {
      if (failedAt === undefined || performance.now() - failedAt < SETTLED_MS) return
      log.info('deliveries have resumed')
      failedAt = undefined
    },
  }
}
