import type { Context } from 'koa'
import type { ClientCredentials, KoaContextWithOIDC, Provider } from 'oidc-provider'
import type { Database } from '../../prisma/client.ts'
import { isPostgresText } from '../../routers/kernel/access.ts'
import { isFirstPartyScope } from '../../routers/kernel/scopes.ts'
import { isSecretOf } from '../tokens/client-secret.ts'
import { errors } from './oidc-provider.ts'

/** Asymmetric, so that the database has no key with which an assertion could be signed. */
const ASSERTION_ALGORITHMS = ['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'] as const

/** Apps do not authenticate; first-party clients use a secret or a signed assertion (RFC 7523). */
export const clientAuthentication = {
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
  clientAuthSigningAlgValues: [...ASSERTION_ALGORITHMS],
} as const

interface FirstPartyClient {
  id: string
  name: string
  scopes: string[]
  secretHash: string | null
  jwks: unknown
}

/** The metadata of a first-party client, which signs nobody in; undefined without a secret and keys. */
export function firstPartyMetadata({ id, name, secretHash, jwks, scopes }: FirstPartyClient, allowedScopes: string) {
  const credentials = secretHash
    ? { token_endpoint_auth_method: 'client_secret_basic', client_secret: secretHash }
    : jwks && { token_endpoint_auth_method: 'private_key_jwt', jwks }
  if (!credentials) return undefined
  return {
    client_id: id,
    client_name: name,
    redirect_uris: [],
    response_types: [],
    grant_types: ['client_credentials'],
    ...credentials,
    [allowedScopes]: scopes.filter(isFirstPartyScope),
  }
}

/** Compares secrets by their hash. The method is public for this purpose (oidc-provider, discussion 1410). */
export function compareHashedSecrets({ Client }: Provider) {
  Client.prototype.compareClientSecret = function compareClientSecret(secret) {
    return this.clientSecret !== undefined && isSecretOf(this.clientSecret, secret)
  }
}

/** The claims of a client's own token. Throws without an existing organisation, or without a scope. */
export async function clientClaims(db: Database, { oidc }: KoaContextWithOIDC, { scope }: ClientCredentials) {
  const organisation = oidc.body?.organisation
  if (typeof organisation !== 'string') throw new errors.InvalidRequest('organisation is needed, once')
  // The directory covers the whole platform, and even creates its first organisation.
  const isPlatformWide = scope?.split(' ').every((name) => name.startsWith('directory:')) === true
  const exists =
    organisation !== '' &&
    isPostgresText(organisation) &&
    (isPlatformWide || (await db.organisation.count({ where: { id: organisation } })) > 0)
  if (!exists) throw new errors.InvalidRequest('this organisation does not exist')
  if (!scope) throw new errors.InvalidScope('this client may have none of the scopes', String(oidc.params?.scope ?? ''))
  return { organisation }
}

/** RFC 6749, 5.2, for a client that may not use the grant type. oidc-provider answers invalid_request. */
export function nameUnauthorizedClient(ctx: Context) {
  const { oidc, body, status } = ctx as Context & Partial<KoaContextWithOIDC>
  const type = oidc?.params?.grant_type
  if (oidc?.route !== 'token' || status !== 400 || typeof type !== 'string') return
  if (oidc.client?.grantTypeAllowed(type) === false && isError(body)) body.error = 'unauthorized_client'
}

const isError = (body: unknown): body is { error: string } => Object(body).error === 'invalid_request'
