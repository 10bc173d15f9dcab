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
 * Whether this process has the key of the database's secrets, as it had at its start: after a rotation it needs the new one. Asks
 * at most every 2 s, and answers without waiting, as a connection may be free only after 2.5 s. While the database does not
 * answer, the last answer counts. Each change is logged.
 */
export function watchSecretsKey({ db, cipher, log, now }: Options): () => boolean {
  let isKnown = true
  let askedAt = Number.NEGATIVE_INFINITY
  const ask = async () => {
    const knows = await hasSecretsKey(db, cipher).catch(() => isKnown)
    if (knows !== isKnown) {
      if (knows) log.info('SECRETS_KEY is again the key of the secrets in the database')
      else
        log.error(
          'SECRETS_KEY is not the key of the secrets in the database: not ready until it is started with that key',
        )
    }
    isKnown = knows
  }
  return () => {
    if (now() - askedAt >= ASK_EVERY_MS) {
      askedAt = now()
      void ask()
    }
    return isKnown
  }
}
