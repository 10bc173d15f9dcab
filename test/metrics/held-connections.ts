import type { Database } from '../../prisma/client.ts'
import { deferred } from '../support/deferred.ts'

/** Takes all connections of the pool; returns what gives them back. */
export async function holdConnections(db: Database, count = 10) {
  const released = deferred()
  const held: Promise<void>[] = []
  // One after the other: ten that connect at once take over three seconds on a busy machine.
  for (let n = 0; n < count; n++) {
    await new Promise<void>((begun, fail) => {
      const transaction = db.inTransaction(() => {
        begun()
        return released.promise
      })
      transaction.catch(fail)
      held.push(transaction)
    })
  }
  return async () => {
    released.resolve()
    await Promise.all(held)
  }
}
