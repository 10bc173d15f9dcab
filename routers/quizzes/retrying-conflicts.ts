import { sqlState } from '../kernel/database-errors.ts'

/** Conflicts worth one retry: deadlock, serialisation failure, a referenced row deleted after it was read. */
const transient = new Set(['40P01', '40001', '23503'])

export const retryingConflicts = <Outcome>(work: () => Promise<Outcome>): Promise<Outcome> =>
  work().catch((error) => {
    if (transient.has(sqlState(error) ?? '')) return work()
    throw error
  })
