import type { Database } from '../../prisma/client.ts'
import type { Store } from '../../routers/kernel/store-watch.ts'
import { openPostgresWakes, sendByPostgres } from './postgres-wakes.ts'
import { openRedisWakes, sendByRedis } from './redis-wakes.ts'
import type { Watches } from './wakes.ts'
import { changedBy } from './wakes.ts'

interface Ways {
  db: Database
  /** The address of the server itself. */
  url: string
  redisUrl: string | undefined
}

/** Wakes what waits in other processes, and what waits here: with Redis by that alone, else by NOTIFY. */
export const openNodeWakes = async ({ db, url, redisUrl }: Ways, watches: Watches) =>
  redisUrl === undefined ? openPostgresWakes(db, url, watches) : openRedisWakes(redisUrl, watches)

/** For a process that does not stay. Never fails, as the change is stored: without the message, nodes notice by their own looks. */
const announce = async ({ db, redisUrl }: Omit<Ways, 'url'>, message: string) => {
  const sent: Promise<unknown> = redisUrl === undefined ? sendByPostgres(db, message) : sendByRedis(redisUrl, message)
  await sent.catch(() => {})
}

/** Reports that a command has changed a store. */
export const announceChange = (ways: Omit<Ways, 'url'>, store: Store) => announce(ways, changedBy('stores', store))

/** Reports that a command has changed what may be due: what apps hear of members. */
export const announceDue = (ways: Omit<Ways, 'url'>) => announce(ways, changedBy('due', { app: '', club: '' }))
