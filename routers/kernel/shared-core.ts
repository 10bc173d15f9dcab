import type { Database } from '../../prisma/client.ts'
import type { Holder } from '../../prisma/pg/connection-shares.ts'
import type { Core } from './context.ts'

/** The core for a call of this team. Statements of Prisma, which no app's requests use in numbers, take any connection. */
export function withShare(core: Core, holder: Holder): Core {
  const { db } = core
  const { shares } = db
  const execute: Database['execute'] = (statement, values) => shares.run(holder, () => db.execute(statement, values))
  const inTransaction: Database['inTransaction'] = (work) => shares.run(holder, () => db.inTransaction(work))
  return {
    ...core,
    db: new Proxy(db, {
      get(_, key: keyof Database) {
        if (key === 'execute') return execute
        return key === 'inTransaction' ? inTransaction : db[key]
      },
    }),
  }
}
