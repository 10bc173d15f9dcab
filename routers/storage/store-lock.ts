import { errors } from '../kernel/errors.ts'

/** One writes while the next one's statement already waits in the database. */
const WRITERS = 2

/** Longer waits are 503. */
const WAIT_MS = 10_000

interface Lock {
  writers: number
  waiting: (() => void)[]
}

/** By app and club, while someone writes. */
const locks = new Map<string, Lock>()

/**
 * Queues the writers of one store in this process: the database locks their usage row anyway, and here they wait without
 * holding a connection that other stores need. Throws 503 after 10 s. async-mutex's semaphore does the same for 40 us more
 * a PUT, of 200, most of it garbage collection.
 */
export async function withStoreLock<T>(
  { app, club }: { app: string; club: string },
  write: () => Promise<T>,
): Promise<T> {
  const store = `${app}\0${club}`
  const lock = locks.get(store) ?? { writers: 0, waiting: [] }
  locks.set(store, lock)
  if (lock.writers < WRITERS) lock.writers++
  else await waitForTurn(lock)
  try {
    return await write()
  } finally {
    const next = lock.waiting.shift()
    if (next) next()
    else if (--lock.writers === 0) locks.delete(store)
  }
}

/** How many writers of this process wait for their store. */
export function waitingWriters(): number {
  let count = 0
  for (const { waiting } of locks.values()) count += waiting.length
  return count
}

const waitForTurn = ({ waiting }: Lock) =>
  new Promise<void>((resolve, reject) => {
    const begin = () => {
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(begin), 1)
      reject(errors.unavailable())
    }, WAIT_MS)
    waiting.push(begin)
  })
