import type { Cipher } from '../../routers/kernel/cipher.ts'
import type { Core } from '../../routers/kernel/context.ts'
import type { LoginMethods } from '../browser/login/methods.ts'
import type { ClientAddress } from '../http/client-address.ts'
import type { BaseUrls, LocalUrls } from '../http/match-route.ts'
import type { MemoryBudget } from '../http/memory-budget.ts'
import type { PeopleLimit } from '../http/people-limit.ts'
import type { Limits } from '../limits/limit.ts'
import { portalAddresses } from '../portal/addresses.ts'

export interface SignIn {
  cipher: Cipher
  secretsKeys: readonly Buffer[]
  loginMethods: LoginMethods
  /** Clubs approve apps before their members can allow them. */
  clubApproval: boolean
  /** Failed requests per minute and address at the token endpoint, in place of the production limit. */
  tokenFailures?: number
  onError: (error: unknown) => void
}

interface Parts {
  core: Core
  addressOf: ClientAddress
  limits: Limits
  memory: MemoryBudget
  countPeople: PeopleLimit
  authBaseUrl: string
  baseUrls: BaseUrls
  localUrls?: LocalUrls | undefined
  /** Called for each grant that a replayed refresh token has ended. */
  replayed: () => void
}

export type OwnIssuer = Awaited<ReturnType<typeof openOwnIssuer>>

/**
 * The authorization server with the portal; in a trial also at its path of localhost, as another issuer. Not loaded with an external issuer: it takes 10
 * MB, and 0.2 s of CPU.
 */
export async function openOwnIssuer(signIn: SignIn, parts: Parts) {
  const { core, addressOf, limits, memory, countPeople, authBaseUrl, baseUrls, localUrls, replayed } = parts
  const { openOauth } = await import('../oauth/open.ts')
  const { addPortal } = await import('../portal/portal.ts')
  const { registerPortal } = await import('../portal/client.ts')
  await registerPortal(core.db)
  const portal = {
    core,
    countPeople,
    sendsMails: signIn.loginMethods.codes !== null,
    clubApproval: signIn.clubApproval,
  }
  const oauth = await openOauth({
    ...signIn,
    ...{ db: core.db, now: core.now, accessOf: core.accessOf, limits, memory, authBaseUrl, replayed },
    appsBaseUrl: baseUrls.apps,
    clientAddress: addressOf,
    requestMs: core.timeLimits.requestMs,
  })
  addPortal(oauth.pages, { ...portal, addresses: portalAddresses(authBaseUrl, baseUrls) })
  const { step, trusted, reload, signsSince, close } = oauth
  if (!localUrls) return { steps: [step], trusted: [trusted], reload, signsSince, close }
  const local = oauth.mountAt({ authBaseUrl: localUrls.auth, appsBaseUrl: localUrls.apps })
  addPortal(local.pages, { ...portal, addresses: portalAddresses(localUrls.auth, localUrls) })
  return { steps: [step, local.step], trusted: [trusted, local.trusted], reload, signsSince, close }
}
