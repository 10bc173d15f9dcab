import type { Logger } from 'pino'
import type { Core } from '../../routers/kernel/context.ts'
import { issuerOf, upstreamCallback } from '../browser/addresses.ts'
import type { ClientAddress } from '../http/client-address.ts'
import type { MemoryBudget } from '../http/memory-budget.ts'
import type { PeopleLimit } from '../http/people-limit.ts'
import type { Limits } from '../limits/limit.ts'
import { portalAddresses } from '../portal/addresses.ts'
import type { Config } from './config.ts'
import type { Store } from './store.ts'

interface Parts {
  core: Core
  keys: readonly Buffer[]
  addressOf: ClientAddress
  limits: Limits
  memory: MemoryBudget
  countPeople: PeopleLimit
  log: Logger
}

/** Loaded only beside no other issuer: 10 MB, and 0.2 s of CPU. */
export async function openOwnIssuer(config: Config, { db, embedded }: Store, parts: Parts) {
  const { core, keys, addressOf, limits, memory, countPeople, log } = parts
  const { now, cipher, timeLimits } = core
  const { openOauth } = await import('../oauth/open.ts')
  const { createLoginMethods } = await import('../browser/login/methods.ts')
  const { addPortal } = await import('../portal/portal.ts')
  const { registerPortal } = await import('../portal/client.ts')
  await registerPortal(db)
  const loginSettings = {
    ...config.login,
    redirectUri: upstreamCallback(issuerOf(config.authBaseUrl)),
    // Only with data of its own, and never in production.
    developmentLogin: embedded !== null && !config.production,
  }
  const brand = config.pageBrand.name
  const onMailError = (error: unknown) => log.error({ err: error }, 'a sign-in code could not be sent')
  const oauth = await openOauth({
    db,
    now,
    cipher,
    secretsKeys: keys,
    authBaseUrl: config.authBaseUrl,
    appsBaseUrl: config.baseUrls.apps,
    clientAddress: addressOf,
    loginMethods: await createLoginMethods(loginSettings, { db, now, onError: onMailError, limits, brand }),
    onError: (error) => log.error({ err: error }, 'the keys that sign tokens'),
    limits,
    memory,
    requestMs: timeLimits.requestMs,
  })
  addPortal(oauth.pages, { core, addresses: portalAddresses(config.authBaseUrl, config.baseUrls.apps), countPeople })
  return oauth
}
