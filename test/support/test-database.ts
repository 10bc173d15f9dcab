import type { Database, PoolOptions } from '../../prisma/client.ts'
import { openDatabase } from '../../prisma/client.ts'
import { suiteLimits } from './time-limits.ts'

/** A pool with the limits of the suite; its owner disconnects it. */
export const openTestDatabase = (url: string, options: PoolOptions = {}): Database =>
  openDatabase(url, () => {}, { limits: suiteLimits, ...options })
