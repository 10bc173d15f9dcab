import type { Database } from '../../prisma/client.ts'
import type { Core } from './context.ts'
import type { Deadline } from './deadline.ts'

/** The core for one request: after the deadline its database begins no statement and commits no transaction. */
export const withDeadline = (core: Core, deadline: Deadline): Core => ({
  ...core,
  db: new Proxy(core.db, {
    get(db, key: keyof Database) {
      deadline.check()
      if (key === 'inTransaction') return inTransaction(db, deadline)
      if (key === '$transaction') return transaction(db, deadline)
      return db[key]
    },
  }),
})

/** Late work must not be committed: its client has got a 503, and may have retried. */
const inTime = async <T>(deadline: Deadline, work: Promise<T>): Promise<T> => {
  const result = await work
  deadline.check()
  return result
}

const inTransaction =
  (db: Database, deadline: Deadline): Database['inTransaction'] =>
  (work) =>
    db.inTransaction((client) => inTime(deadline, work(client)))

const transaction =
  (db: Database, deadline: Deadline): Database['$transaction'] =>
  (work, options) =>
    db.$transaction((tx) => inTime(deadline, work(tx)), options)
