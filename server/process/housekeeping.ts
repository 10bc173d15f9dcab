import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import type { Cipher } from '../../routers/cipher.ts'
import { forgetExpired } from '../../routers/quizzes/idempotency.ts'
import { deleteExpiredRecords } from '../oauth/adapter.ts'
import { deleteExpiredCodes } from '../oauth/login/login-codes.ts'
import { deleteRetiredKeys } from '../oauth/signing-key-store.ts'
import { purgeEvents } from '../webhooks/purge.ts'

const INTERVAL_MS = 3_600_000

interface Parts {
  db: Database
  cipher: Cipher
  log: Logger
}

/** Removes expired rows every hour; returns what ends that. */
export function startHousekeeping({ db, cipher, log }: Parts): () => void {
  const deleteOldKeys = (db: Database, at: number) => deleteRetiredKeys({ db, cipher, now: () => at })
  const tasks = [forgetExpired, deleteExpiredRecords, deleteExpiredCodes, purgeEvents, deleteOldKeys]
  const timer = setInterval(() => {
    for (const task of tasks) {
      task(db, Date.now()).catch((error) => log.warn({ err: error }, 'expired rows were not removed'))
    }
  }, INTERVAL_MS)
  return () => clearInterval(timer)
}
