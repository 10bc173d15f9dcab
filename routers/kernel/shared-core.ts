import type { Database } from '../../prisma/client.ts'
import type { ConnectionShares, Holder } from '../../prisma/pg/connection-shares.ts'
import type { Core } from './context.ts'

/**
 * The core for a call of this team. Statements of Prisma, which no app's requests use in numbers, take any connection. Functions are
 * made when they are asked for: made with each core, both took 1.4 us, of some 100 that a request takes.
 */
export function withShare(core: Core, holder: Holder): Core {
  const { shares } = core.db
  return {
    ...core,
    db: new Proxy(core.db, {
      get(db, key: keyof Database) {
        if (key === 'execute') return execute(db, shares, holder)
        if (key === 'inTransaction') return inTransaction(db, shares, holder)
        return db[key]
      },
    }),
  }
}

const execute =
  (db: Database, shares: ConnectionShares, holder: Holder): Database['execute'] =>
  (statement, values) =>
    shares.run(holder, () => db.execute(statement, values))

const inTransaction =
  (db: Database, shares: ConnectionShares, holder: Holder): Database['inTransaction'] =>
  (work) =>
    shares.run(holder, () => db.inTransaction(work))
