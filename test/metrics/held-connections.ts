import type { Database } from '../../prisma/client.ts'

/** Takes all connections of the pool; returns what gives them back. */
export async function holdConnections(db: Database, count = 10) {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const held: Promise<void>[] = []
  // One after the other: ten that connect at once take over three seconds on a busy machine.
  for (let n = 0; n < count; n++) {
    await new Promise<void>((begun, fail) => {
      const transaction = db.inTransaction(() => {
        begun()
        return released
      })
      transaction.catch(fail)
      held.push(transaction)
    })
  }
  return async () => {
    release()
    await Promise.all(held)
  }
}
