import type { JWK } from 'jose'
import type { Account, Configuration, KoaContextWithOIDC, Provider as OidcProvider } from 'oidc-provider'
import type { Database } from '../../prisma/client.ts'
import type { Scope } from '../../routers/scopes.ts'
import { memberScopes } from '../../routers/scopes.ts'
import { AUDIENCE } from '../tokens/audience.ts'
import { adapterFactory } from './adapter.ts'
import { requestedScopes } from './authorize-scopes.ts'
import { organisationOf } from './consents.ts'
import {
  ACCESS_TOKEN_SECONDS,
  CODE_SECONDS,
  GRANT_SECONDS,
  INTERACTION_SECONDS,
  REFRESH_TOKEN_SECONDS,
  SESSION_SECONDS,
} from './lifetimes.ts'
import { errors, interactionPolicy, Provider } from './runtime.ts'

export interface ProviderParts {
  db: Database
  now: () => number
  issuer: string
  /** The first one signs the cookies, each of them verifies; on each node the same. */
  cookieKeys: string[]
  secure: boolean
  renderError: NonNullable<Configuration['renderError']>
}

/** What oidc-provider knows of a member: of a token's, also where its consent holds. */
interface Member extends Account {
  organisation?: string
}

const cookies = { httpOnly: true, sameSite: 'lax', signed: true } as const

/** The paths of the issuer's that oidc-provider answers, and their methods. */
export const routes = { authorization: '/authorize', token: '/token', revocation: '/revoke', jwks: '/jwks' }

/** What the adapter gives of our own, and oidc-provider's types do not know. */
const allowedOf = (client: unknown) => (client as { allowed_scopes: Scope[] }).allowed_scopes

/** The scopes of a request that its client may ask for. */
export const requestedOf = (client: unknown, scope: unknown) => requestedScopes(scope, allowedOf(client))

/**
 * OAuth 2.0 for public clients: authorization code with PKCE, refresh tokens that are replaced with each use, access
 * tokens as RFC 9068 has them. Whatever of OpenID Connect and of the extensions is not needed is off.
 */
export function createProvider(
  jwks: JWK[],
  { db, now, issuer, cookieKeys, secure, renderError }: ProviderParts,
): OidcProvider {
  const holds = (person: string, client: string, grant: string) => organisationOf(db, { grant, person, client }, now())

  return new Provider(issuer, {
    adapter: adapterFactory({ db, now }),
    jwks: { keys: jwks as never },
    routes,
    scopes: [],
    claims: {},
    responseTypes: ['code'],
    clientAuthMethods: ['none'],
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    extraClientMetadata: { properties: ['allowed_scopes'] },
    extraParams: { organisation: refuseWithoutScopes },
    cookies: {
      keys: cookieKeys,
      names: { session: 'member_session', interaction: 'member_interaction', resume: 'member_resume' },
      long: { ...cookies, path: new URL(issuer).pathname, secure },
      short: { ...cookies, secure },
    },
    ttl: {
      AccessToken: ACCESS_TOKEN_SECONDS,
      AuthorizationCode: CODE_SECONDS,
      Grant: GRANT_SECONDS,
      Interaction: INTERACTION_SECONDS,
      Session: SESSION_SECONDS,
      RefreshToken: REFRESH_TOKEN_SECONDS,
    },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    // An app stays allowed when its member signs out here.
    expiresWithSession: () => false,
    features: {
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
        getResourceServerInfo(_ctx, resource, client) {
          if (resource !== AUDIENCE) throw new errors.InvalidTarget()
          return {
            scope: allowedOf(client).join(' '),
            audience: AUDIENCE,
            accessTokenTTL: ACCESS_TOKEN_SECONDS,
            accessTokenFormat: 'jwt',
            jwt: { sign: { alg: 'ES256' } },
          }
        },
      },
    },
    interactions: { url: (_ctx, { uid }) => `${new URL(issuer).pathname}/interaction/${uid}`, policy: policy() },
    async findAccount({ oidc }, sub, token): Promise<Member | undefined> {
      const account = { accountId: sub, claims: () => ({ sub }) }
      if (!token) return (await db.person.count({ where: { id: sub } })) > 0 ? account : undefined
      // Asked before a refresh token is used up, as what is wrong with a request must not cost the app its sign-in.
      if ((oidc.params?.resource ?? AUDIENCE) !== AUDIENCE) throw new errors.InvalidTarget()
      // Withdrawn, or of a member who has left, it is worth nothing.
      const { clientId, grantId } = token as { clientId?: string; grantId?: string }
      const organisation = await holds(sub, clientId ?? '', grantId ?? '')
      return organisation === undefined ? undefined : { ...account, organisation }
    },
    extraTokenClaims: (ctx, token) => ({
      organisation: (ctx.oidc.account as Member).organisation,
      gid: (token as { grantId?: string }).grantId,
    }),
    async loadExistingGrant({ oidc }) {
      const client = oidc.client!.clientId
      const id = oidc.result?.consent?.grantId ?? oidc.session!.grantIdFor(client)
      if (!id) return undefined
      const organisation = await holds(oidc.account!.accountId, client, id)
      const wanted = oidc.params!.organisation ?? organisation
      if (organisation === undefined || (wanted !== organisation && !oidc.result?.consent)) return undefined
      return oidc.provider.Grant.find(id)
    },
    renderError,
  })
}

/** Its own, and a question of ours: whether the member who is signed in still exists. */
function policy() {
  const { base, Check } = interactionPolicy
  const prompts = base()
  prompts
    .get('login')!
    .checks.add(
      new Check('no_account', 'the member is no more', ({ oidc }) => Boolean(oidc.session!.accountId && !oidc.account)),
    )
  return prompts
}

/** A member is not asked for nothing (RFC 6749, 3.3: without a scope that can be given, the request fails). */
function refuseWithoutScopes({ oidc }: KoaContextWithOIDC) {
  if (requestedOf(oidc.client, oidc.params!.scope).length === 0) {
    throw new errors.InvalidScope('none of the scopes can be given to this client', String(oidc.params!.scope ?? ''))
  }
}

/** RFC 8414: what a client has to know, and nothing of what is off. */
export const metadataOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}${routes.authorization}`,
  token_endpoint: `${issuer}${routes.token}`,
  revocation_endpoint: `${issuer}${routes.revocation}`,
  jwks_uri: `${issuer}${routes.jwks}`,
  scopes_supported: memberScopes,
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  grant_types_supported: ['authorization_code', 'refresh_token'],
  token_endpoint_auth_methods_supported: ['none'],
  revocation_endpoint_auth_methods_supported: ['none'],
  code_challenge_methods_supported: ['S256'],
  authorization_response_iss_parameter_supported: true,
})
