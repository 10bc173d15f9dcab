import type { Cipher } from '../../routers/kernel/cipher.ts'
import type { Core } from '../../routers/kernel/context.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'
import { CARD, CARD_KEYS_PATH, METADATA_PATH, toIssuer } from '../browser/addresses.ts'
import type { LoginMethods } from '../browser/login/methods.ts'
import { calendarFeeds } from '../calendar/serve.ts'
import type { ClientAddress } from '../http/client-address.ts'
import { limitFailures } from '../http/failed-authentications.ts'
import { normalizeHost } from '../http/host-name.ts'
import type { BaseUrls, LocalUrls } from '../http/match-route.ts'
import type { MemoryBudget } from '../http/memory-budget.ts'
import type { PeopleLimit } from '../http/people-limit.ts'
import { MCP } from '../http/resource-metadata.ts'
import type { Step } from '../http/state.ts'
import type { Limits } from '../limits/limit.ts'
import type { DocumentSettings } from '../oauth/engine/client-documents.ts'
import type { SignInFailed } from '../oauth/engine/provider-handler.ts'
import type { Realm } from '../oauth/engine/realm.ts'
import { cardCodes } from '../oauth/keys/card-codes.ts'
import type { Passes } from '../oauth/keys/card-passes.ts'
import type { SigningKeys } from '../oauth/keys/signing-keys.ts'
import { openSigningKeys } from '../oauth/keys/signing-keys.ts'
import type { ConsentRules } from '../oauth/pages/page-options.ts'
import { portalAddresses } from '../portal/addresses.ts'
import { registerPortal } from '../portal/client.ts'
import { AUDIENCE } from '../tokens/audience.ts'
import { createAuthenticate } from '../tokens/authenticate.ts'
import { readPrincipal } from '../tokens/claims.ts'
import type { TrustedIssuer } from '../tokens/verify.ts'

export interface SignIn extends ConsentRules {
  cipher: Cipher
  secretsKeys: readonly Buffer[]
  loginMethods: LoginMethods
  /** CLIENT_METADATA: how documents of clients are read. */
  documents?: DocumentSettings | undefined
  /** Makes the cards' passes for Apple Wallet, with the operator's certificate. */
  passes?: Passes | undefined
  /** Failed requests per minute and address at the token endpoint, in place of the production limit. */
  tokenFailures?: number
  onError: (error: unknown) => void
}

interface Parts {
  core: Core
  readClientAddress: ClientAddress
  limits: Limits
  memory: MemoryBudget
  countPeople: PeopleLimit
  authBaseUrl: string
  baseUrls: BaseUrls
  localUrls?: LocalUrls | undefined
  /** Called for each grant that a replayed refresh token has ended. */
  replayed: () => void
  /** Called after a request of a known client that has failed. */
  signInFailed: SignInFailed
}

export type OwnIssuer = Awaited<ReturnType<typeof openOwnIssuer>>

/** The authorization server with the portal; in a trial also at its path of localhost, as another issuer. */
export async function openOwnIssuer(signIn: SignIn, parts: Parts) {
  const { core, readClientAddress, limits, authBaseUrl, baseUrls, localUrls } = parts
  const { db, now, steady } = core
  await registerPortal(db)
  const keys = await openSigningKeys({ db, now, cipher: signIn.cipher, onError: signIn.onError })
  const codes = cardCodes({ keys, authBaseUrl, now })
  core.cards = { ...codes, makePass: signIn.passes?.(codes.sign) }

  const at = (authBaseUrl: string, baseUrls: BaseUrls, realm: Realm) => {
    const trusted = ownTokens(keys, authBaseUrl)
    const mount = async () => {
      const { mountOauth } = await import('../oauth/mount.ts')
      const { addPortal } = await import('../portal/portal.ts')
      const addresses = portalAddresses(authBaseUrl, baseUrls, localUrls)
      const { step, pages } = mountOauth({
        ...signIn,
        ...parts,
        db,
        now,
        steady,
        keys,
        cards: cardCodes({ keys, authBaseUrl, now }),
        authBaseUrl,
        realm,
        findAccess: core.findAccess,
        due: core.due,
        clientAddress: readClientAddress,
        appsBaseUrl: baseUrls.apps,
        references: Object.values(addresses.references),
        resources: [parts.baseUrls, ...(localUrls ? [localUrls] : [])].flatMap((urls) => [
          ...sectionNames.map((name) => urls[name]),
          `${urls.sync}${MCP}`,
        ]),
        authenticate: limitFailures(createAuthenticate([trusted], now), readClientAddress, limits),
        requestMs: core.timeLimits.requestMs,
      })
      addPortal(pages, {
        core,
        countPeople: parts.countPeople,
        clubApproval: signIn.clubApproval,
        addresses,
        sendsMails: signIn.loginMethods.codes !== null,
      })
      return step
    }
    return { trusted, step: atFirstRequest(authBaseUrl, mount) }
  }

  const feeds = (authBaseUrl: string) => calendarFeeds({ ...parts, authBaseUrl })
  const addresses = [authBaseUrl, ...(localUrls ? [localUrls.auth] : [])]
  const issuers = [at(authBaseUrl, baseUrls, undefined), ...(localUrls ? [at(localUrls.auth, localUrls, 'local')] : [])]
  return {
    steps: [...issuers.map(({ step }) => step), ...addresses.map(feeds)],
    trusted: issuers.map(({ trusted }) => trusted),
    reload: keys.reload,
    /** When the current signing key began to sign, in Unix milliseconds. */
    signsSince: keys.signsSince,
    close: keys.close,
  }
}

/**
 * Passes an issuer's requests to a step that the first one loads, in 0.1 s: oidc-provider and the pages take 15 MB and a fifth of
 * a start's CPU, and a node that serves apps alone needs neither.
 */
function atFirstRequest(authBaseUrl: string, load: () => Promise<Step>): Step {
  const { host, pathname: base } = new URL(authBaseUrl)
  const { pathname: path } = new URL(toIssuer(authBaseUrl))
  const documents = [`${METADATA_PATH}${path}`, `${CARD_KEYS_PATH}${base}`]
  const isOwn = (requested: string, at: string) =>
    [`${path}/`, `${base}${CARD}`].some((own) => requested.startsWith(own)) ||
    documents.includes(requested) ||
    (requested === CARD_KEYS_PATH && normalizeHost(at) === normalizeHost(host))
  let step: Promise<Step> | undefined
  return (ctx, next) => {
    if (!isOwn(ctx.state.path, ctx.state.host)) return next()
    step ??= load()
    return step.then((loaded) => loaded(ctx, next))
  }
}

/** The service's own access tokens, as one of its issuers. */
const ownTokens = (keys: SigningKeys, authBaseUrl: string): TrustedIssuer => ({
  keys: keys.verify,
  keySetVersion: keys.version,
  issuer: toIssuer(authBaseUrl),
  audience: AUDIENCE,
  toPrincipal(payload, header) {
    const { gid: grant, sub, ...claims } = payload
    // RFC 9068, 2.2: the subject of a token that a client has got for itself is the client.
    if (grant === undefined && sub === claims.client_id) return { ...readPrincipal(claims, header), ownToken: true }
    if (typeof grant !== 'string' || grant === '') throw errors.tokenInvalid()
    return { ...readPrincipal(payload, header), grant, ownToken: true }
  },
})
