import type { Logger } from 'pino'
import type { Cipher } from '../../routers/cipher.ts'
import type { ClientAddress } from '../http/client-address.ts'
import type { Limits } from '../limits/limit.ts'
import type { Config } from './config.ts'
import type { Store } from './store.ts'

interface Parts {
  now: () => number
  cipher: Cipher
  keys: readonly Buffer[]
  addressOf: ClientAddress
  limits: Limits
  log: Logger
}

/** Loaded only beside no other issuer: 10 MB, and 0.2 s of CPU. */
export async function openOwnIssuer(config: Config, { db, embedded }: Store, parts: Parts) {
  const { now, cipher, keys, addressOf, limits, log } = parts
  const { openOauth } = await import('../oauth/open.ts')
  const { createLoginMethods } = await import('../oauth/login-methods.ts')
  const loginSettings = {
    ...config.login,
    authBaseUrl: config.authBaseUrl,
    // Only with data of its own, and never in production.
    developmentLogin: embedded !== null && !config.production,
  }
  const onMailError = (error: unknown) => log.error({ err: error }, 'a sign-in code could not be sent')
  return openOauth({
    db,
    now,
    cipher,
    secretsKeys: keys,
    authBaseUrl: config.authBaseUrl,
    appsBaseUrl: config.baseUrls.apps,
    clientAddress: addressOf,
    loginMethods: await createLoginMethods(loginSettings, { db, now, onError: onMailError, limits }),
    onError: (error) => log.error({ err: error }, 'the keys that sign tokens'),
    limits,
  })
}
