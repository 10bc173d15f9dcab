import type { Database } from '../../prisma/client.ts'
import { readConfig } from '../process/config.ts'
import { openStore } from '../process/store.ts'
import type { Io } from './command.ts'

/** Opens the database of the environment for one use; an embedded server is started if none runs. */
export async function withDatabase<Result>({ env }: Io, use: (db: Database) => Promise<Result>): Promise<Result> {
  const { db, close } = await openStore(readConfig(env), () => {})
  return use(db).finally(close)
}
