import type { SemaphoreInterface } from 'async-mutex'
import { Semaphore, withTimeout } from 'async-mutex'
import { errors } from '../errors.ts'

/** One writes while the next one's statement already waits in the database. */
const WRITERS = 2

const WAIT_MS = 10_000
const timedOut = errors.unavailable()

/** By app and club, while someone writes. */
const locks = new Map<string, { semaphore: SemaphoreInterface; users: number }>()

/**
 * Queues the writers of one store in this process: the database locks their usage row anyway, and here they wait without
 * holding a connection that other stores need. Throws 503 after 10 s.
 */
export async function withStoreLock<T>({ app, club }: { app: string; club: string }, write: () => Promise<T>) {
  const store = `${app}\0${club}`
  const lock = locks.get(store) ?? { semaphore: withTimeout(new Semaphore(WRITERS), WAIT_MS, timedOut), users: 0 }
  locks.set(store, lock)
  lock.users++
  try {
    return await lock.semaphore.runExclusive(write)
  } finally {
    if (--lock.users === 0) locks.delete(store)
  }
}
