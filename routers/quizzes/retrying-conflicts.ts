import { retryingDeadlocks, sqlState } from '../kernel/database-errors.ts'

/** Conflicts worth one retry: serialisation failure, a referenced row deleted after it was read. */
const transient = new Set(['40001', '23503'])

/** The same after a deadlock, up to four times. */
export const retryingConflicts = <Outcome>(work: () => Promise<Outcome>): Promise<Outcome> =>
  retryingDeadlocks(work).catch((error) => {
    if (transient.has(sqlState(error) ?? '')) return retryingDeadlocks(work)
    throw error
  })
