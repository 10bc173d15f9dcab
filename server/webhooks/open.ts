import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import type { Cipher } from '../../routers/cipher.ts'
import { createSender } from './send/send.ts'
import type { Worker } from './worker.ts'
import { startWorker } from './worker.ts'

interface Settings {
  /** Addresses and networks that deliveries may reach although they are not public. */
  allow: readonly string[]
}

interface Dependencies {
  db: Database
  cipher: Cipher
  /** Unix time in milliseconds. */
  now: () => number
  log: Logger
}

/** Starts a worker with a sender of its own; `close` ends both. */
export function openWorker({ allow }: Settings, dependencies: Dependencies): Worker {
  const sender = createSender({ allow, now: dependencies.now })
  const worker = startWorker({ ...dependencies, sender })
  return {
    wake: worker.wake,
    async close() {
      await worker.close()
      sender.close()
    },
  }
}
