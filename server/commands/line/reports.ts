import type { Database } from '../../../prisma/client.ts'
import type { Store } from '../../../routers/kernel/store-watch.ts'
import { readSettings } from '../../process/command-settings.ts'
import { announceChange, announceDue } from '../../process/node-wakes.ts'
import type { Io } from './command.ts'

/** How a command reports to the nodes what it has changed. Called before it changes anything: throws for a wrong setting. */
export function openReports({ env }: Pick<Io, 'env'>) {
  const { redisUrl } = readSettings(env, 'redisUrl')
  return {
    change: (db: Database, store: Store) => announceChange({ db, redisUrl }, store),
    due: (db: Database) => announceDue({ db, redisUrl }),
  }
}

export type Reports = ReturnType<typeof openReports>
