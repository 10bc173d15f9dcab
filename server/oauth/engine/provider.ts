import type { JWK } from 'jose'
import type { Configuration, Interaction, KoaContextWithOIDC, Provider as OidcProvider } from 'oidc-provider'
import type { IdTokenAlgorithm } from '../../../prisma/generated/enums.ts'
import { identityScopes } from '../../../routers/kernel/identity-scopes.ts'
import { INTERACTION_SECONDS } from '../../browser/encrypted-cookies.ts'
import { AUDIENCE } from '../../tokens/audience.ts'
import {
  ALLOWED_SCOPES,
  isSandbox,
  isSuspended,
  isWaiting,
  POST_LOGOUT_URIS,
  requestedScopes,
  SANDBOX,
  SUSPENDED,
  WAITING,
} from '../consents/authorize-scopes.ts'
import {
  ACCESS_TOKEN_SECONDS,
  CODE_SECONDS,
  DEVICE_CODE_SECONDS,
  GRANT_SECONDS,
  REFRESH_TOKEN_SECONDS,
  SESSION_SECONDS,
} from '../keys/lifetimes.ts'
import { algorithms } from '../keys/signing-key-store.ts'
import { adapterFactory } from './adapter.ts'
import { checkAssertion, clientAuthentication, requestable } from './client-credentials.ts'
import { compareHashedSecrets, SECRETS } from './client-secrets.ts'
import type { DocumentOptions } from './document-feature.ts'
import { documentFeature } from './document-feature.ts'
import { completeIdTokens, ignoreUnverifiedHints } from './id-tokens.ts'
import { memberGrants } from './member-grants.ts'
import { keepSessionIds } from './oidc-internals.ts'
import { errors, interactionPolicy, Provider } from './oidc-provider.ts'
import type { Realm } from './realm.ts'
import { routes } from './routes.ts'
import { skipPrompt } from './skip-prompt.ts'

export interface ProviderOptions extends DocumentOptions {
  now: () => number
  issuer: string
  realm: Realm
  signsWith: (algorithm: IdTokenAlgorithm) => boolean
  references: readonly string[]
  /** The first signs cookies, all of them verify; the same on every node. */
  cookieKeys: string[]
  secure: boolean
  /** Clubs approve apps before they get tokens of their own. */
  clubApproval: boolean
  interactionUrl: (ctx: KoaContextWithOIDC, interaction: Interaction) => string
  renderError: NonNullable<Configuration['renderError']>
}

const cookies = { httpOnly: true, sameSite: 'lax', signed: true } as const

/**
 * OAuth 2.0 for public and confidential clients: authorization code with PKCE, device codes (RFC 8628) for clients registered for
 * them, rotating refresh tokens, JWT access tokens (RFC 9068); for clients that have registered `openid`, ID tokens; for
 * first-party clients, and for apps with a server, client credentials. Everything else of OpenID Connect and its extensions is
 * off.
 */
export function createProvider(
  jwks: JWK[],
  {
    db,
    now,
    issuer,
    realm,
    signsWith,
    references,
    documents,
    readNetwork,
    cookieKeys,
    secure,
    clubApproval,
    interactionUrl,
    renderError,
  }: ProviderOptions,
): OidcProvider {
  const { reading, feature } = documentFeature({ db, documents, readNetwork })
  const provider = new Provider(issuer, {
    ...memberGrants(db, now),
    ...reading,
    adapter: adapterFactory({ db, now, realm, signsWith, references }),
    jwks: { keys: jwks },
    routes,
    scopes: identityScopes,
    // An ID token has the member's id alone; the rest is at userinfo.
    claims: { openid: ['sub', 'auth_time'] },
    responseTypes: ['code'],
    clientAuthMethods: [...clientAuthentication.clientAuthMethods],
    assertJwtClientAuthClaimsAndHeader: (_ctx, claims) => checkAssertion(claims, now()),
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: {
      idTokenSigningAlgValues: algorithms,
      clientAuthSigningAlgValues: [...clientAuthentication.clientAuthSigningAlgValues],
    },
    extraClientMetadata: { properties: [ALLOWED_SCOPES, POST_LOGOUT_URIS, SANDBOX, SECRETS, SUSPENDED, WAITING] },
    extraParams: { organisation: checkRequest },
    cookies: {
      keys: cookieKeys,
      names: cookieNames(secure),
      long: { ...cookies, path: '/', secure },
      short: { ...cookies, secure },
    },
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: CODE_SECONDS,
      DeviceCode: DEVICE_CODE_SECONDS,
      ClientCredentials: ACCESS_TOKEN_SECONDS,
      Grant: GRANT_SECONDS,
      Interaction: INTERACTION_SECONDS,
      Session: SESSION_SECONDS,
      RefreshToken: REFRESH_TOKEN_SECONDS,
    },
    // refresh-rotation.ts rotates: oidc-provider would end the grant of a token that is sent again.
    rotateRefreshToken: false,
    issueRefreshToken: () => true,
    // Apps keep their access when the member signs out here.
    expiresWithSession: () => false,
    features: {
      ...feature,
      clientCredentials: { enabled: true },
      // device.ts has the pages. Of a device, not even its address is stored.
      deviceFlow: { enabled: true, charset: 'base-20', mask: '****-****', deviceInfo: () => ({}) },
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      claimsParameter: { enabled: false },
      revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => AUDIENCE,
        useGrantedResource: () => true,
        async getResourceServerInfo(ctx, resource, client) {
          if (resource !== AUDIENCE) throw new errors.InvalidTarget()
          return {
            scope: (await requestable(ctx, client, { db, clubApproval, now: now() })).join(' '),
            audience: AUDIENCE,
            accessTokenTTL: ACCESS_TOKEN_SECONDS,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'ES256' } },
          }
        },
      },
    },
    interactions: { url: interactionUrl, policy: interactionPrompts({ db, now, clubApproval }) },
    renderError,
  })
  compareHashedSecrets(provider, db, now)
  completeIdTokens(provider, now)
  keepSessionIds(provider)
  ignoreUnverifiedHints(provider)
  return provider
}

/**
 * oidc-provider's prompts, with max_age by the database's time, and without id_token_hint of sandbox clients, which names a test
 * member. A session whose member no longer exists has to sign in again.
 */
function interactionPrompts({ db, now, clubApproval }: Pick<ProviderOptions, 'db' | 'now' | 'clubApproval'>) {
  const { base, Check } = interactionPolicy
  const prompts = base()
  const { checks } = prompts.get('login')!
  const replace = (reason: string, description: string, check: (ctx: KoaContextWithOIDC) => boolean) => {
    checks.remove(reason)
    checks.add(new Check(reason, description, 'login_required', check))
  }
  replace('no_account', 'the member no longer exists', ({ oidc }) => Boolean(oidc.session!.accountId && !oidc.account))
  replace('max_age', 'the member signed in too long ago', ({ oidc: { params, session } }) => {
    const { loginTs } = session!
    return params!.max_age !== undefined && loginTs !== undefined && now() / 1000 - loginTs > Number(params!.max_age)
  })
  replace('id_token_hint', 'another member is signed in', ({ oidc: { client, entities, session } }) => {
    const hint = entities.IdTokenHint
    return hint !== undefined && !isSandbox(client) && hint.payload.sub !== session!.accountId
  })
  prompts.add(skipPrompt({ db, now, clubApproval }), 1)
  return prompts
}

/**
 * Because of the prefixes, browsers accept these cookies over TLS only, and the session's only from its own host, not from
 * another host of the site. The others have a path, which `__Host-` does not allow.
 */
const cookieNames = (secure: boolean) => ({
  session: `${secure ? '__Host-' : ''}member_session`,
  interaction: `${secure ? '__Secure-' : ''}member_interaction`,
  resume: `${secure ? '__Secure-' : ''}member_resume`,
})

/** The bound of the parameters that are stored with a device's code: as much as a browser's request may have. */
const MAX_STORED = 4_096

/** RFC 6749, 3.3: a request fails if the client is allowed none of its scopes; a suspended app gets its own error. */
function checkRequest({ oidc }: KoaContextWithOIDC) {
  if (oidc.route === 'device_authorization' && JSON.stringify(oidc.params).length > MAX_STORED) {
    throw new errors.InvalidRequest('the parameters are longer than 4 KB')
  }
  if (isWaiting(oidc.client)) throw new ClientPendingApproval()
  if (isSuspended(oidc.client)) throw new errors.UnauthorizedClient('this app is suspended')
  if (requestedScopes(oidc.client, oidc.params!.scope).length === 0) {
    throw new errors.InvalidScope('this client may have none of the scopes', String(oidc.params!.scope ?? ''))
  }
}

/** A client that is pending approval. Shown as a page, as its redirect addresses have not been approved either. */
export class ClientPendingApproval extends errors.UnauthorizedClient {
  override allow_redirect = false

  constructor() {
    super('this client is pending approval')
  }
}
