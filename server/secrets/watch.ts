import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import { hasSecretsKey } from '../../routers/kernel/secrets-key.ts'

const ASK_EVERY_MS = 2_000

interface Options {
  db: Database
  cipher: Cipher
  log: Logger
  now: () => number
}

/**
 * Whether this process has the key of the database's secrets, at most 2 s ago: after a rotation it needs the new one. While the
 * database does not answer, the last answer counts. Each change is logged.
 */
export function watchSecretsKey({ db, cipher, log, now }: Options): () => Promise<boolean> {
  let isKnown = true
  let askedAt = Number.NEGATIVE_INFINITY
  return async () => {
    if (now() - askedAt < ASK_EVERY_MS) return isKnown
    askedAt = now()
    const knows = await hasSecretsKey(db, cipher).catch(() => isKnown)
    if (knows !== isKnown) {
      if (knows) log.info('SECRETS_KEY is again the key of the secrets in the database')
      else
        log.error(
          'SECRETS_KEY is not the key of the secrets in the database: not ready until it is started with that key',
        )
    }
    isKnown = knows
    return isKnown
  }
}
