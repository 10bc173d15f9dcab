import type { Database } from '../../prisma/client.ts'
import type { Call, Core } from './context.ts'
import type { Deadline } from './deadline.ts'

type Bounds = Pick<Call, 'deadline' | 'team'>

/**
 * The core for one call. After the call's deadline its database begins no statement and commits no transaction. Once its team is
 * known, its statements take connections of the team's share; those of Prisma, which no app's requests use in numbers, take any.
 * One wrapper for both, with functions that are made when they are asked for: two took 10 us of the 144 of a storage GET.
 */
export const withBounds = (core: Core, call: Bounds): Core => {
  const db = new Proxy(core.db, {
    get(db, key: keyof Database) {
      call.deadline?.check()
      if (key === 'execute') return execute(db, call)
      if (key === 'inTransaction') return inTransaction(db, call)
      if (key === '$transaction') return transaction(db, call)
      return db[key]
    },
  })
  // Inherits the rest: a copy has 28 properties, which a stream at rest would keep.
  return Object.assign(Object.create(core) as Core, { db })
}

const execute =
  (db: Database, { team }: Bounds): Database['execute'] =>
  (statement, values) =>
    db.execute(statement, values, team)

const inTransaction =
  (db: Database, { deadline, team }: Bounds): Database['inTransaction'] =>
  (work) =>
    db.inTransaction((client) => inTime(deadline, work(client)), team)

const transaction =
  (db: Database, { deadline }: Bounds): Database['$transaction'] =>
  (work, options) =>
    db.$transaction((tx) => inTime(deadline, work(tx)), options)

/** Late work must not be committed: its client has got a 503, and may have retried. */
const inTime = async <T>(deadline: Deadline | undefined, work: Promise<T>): Promise<T> => {
  const result = await work
  deadline?.check()
  return result
}
