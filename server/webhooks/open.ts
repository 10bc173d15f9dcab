import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import type { Cipher } from '../../routers/cipher.ts'
import type { Config } from '../process/config.ts'
import { createSender } from './send/send.ts'
import type { Worker } from './worker.ts'
import { startWorker } from './worker.ts'

interface Parts {
  db: Database
  cipher: Cipher
  now: () => number
  log: Logger
}

/** A worker with its sender, as the settings want them. */
export function openWorker({ webhooks: { allow } }: Pick<Config, 'webhooks'>, parts: Parts): Worker {
  const sender = createSender({ allow, now: parts.now })
  const worker = startWorker({ ...parts, sender })
  return {
    wake: worker.wake,
    async close() {
      await worker.close()
      sender.close()
    },
  }
}
