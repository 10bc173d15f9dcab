import type { Context } from 'koa'
import type { AdapterPayload, Client, ClientCredentials, KoaContextWithOIDC } from 'oidc-provider'
import type { Database } from '../../../prisma/client.ts'
import type { ClientAuthentication } from '../../../prisma/generated/client.ts'
import { isApproved } from '../../../routers/approvals/approvals.ts'
import { isPostgresText, readAccess } from '../../../routers/kernel/access.ts'
import { isFirstPartyScope } from '../../../routers/kernel/scopes.ts'
import { allowedScopes, isSandbox, isSuspended, isWaiting } from '../consents/authorize-scopes.ts'
import type { SecretRow } from './client-secrets.ts'
import { storedSecret, withSecrets } from './client-secrets.ts'
import { DEVICE_GRANT } from './device-codes.ts'
import { errors } from './oidc-provider.ts'

/** Asymmetric, so that the database has no key with which an assertion could be signed. */
const ASSERTION_ALGORITHMS = ['ES256', 'RS256', 'PS256', 'EdDSA', 'Ed25519'] as const

/** Apps without a server do not authenticate; other clients use a secret or a signed assertion (RFC 7523). */
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
  const credentials = secretHash ? withSecrets([{ hash: secretHash }]) : jwks && withKeys(jwks)
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

const withKeys = (jwks: unknown) => ({
  token_endpoint_auth_method: 'private_key_jwt' as const,
  jwks: jwks as AdapterPayload['jwks'],
})

interface TeamClient {
  authentication: ClientAuthentication
  jwks: unknown
  /** Null without any. */
  secrets: readonly SecretRow[] | null
  redirectUris: readonly string[]
  devices: boolean
}

/**
 * How a team's client authenticates. Without a secret or keys a confidential client gets no tokens. Others get none for their
 * app.
 */
export function teamCredentials({ authentication, jwks, secrets, ...client }: TeamClient) {
  const grants = memberGrantTypes(client)
  switch (authentication) {
    case 'none':
      return { grant_types: grants, token_endpoint_auth_method: 'none' as const }
    case 'client_secret':
      return { grant_types: [...grants, 'client_credentials'], ...withSecrets((secrets ?? []).map(storedSecret)) }
    case 'private_key_jwt':
      return { grant_types: [...grants, 'client_credentials'], ...withKeys(jwks ?? { keys: [] }) }
  }
}

const memberGrantTypes = ({ redirectUris, devices }: Pick<TeamClient, 'redirectUris' | 'devices'>) => [
  ...(redirectUris.length > 0 ? ['authorization_code'] : []),
  'refresh_token',
  ...(devices ? [DEVICE_GRANT] : []),
]

/** In which an assertion must expire: its id is stored until then, so that it works once. */
const ASSERTION_SECONDS = 3_600

/** Throws for an assertion that has been verified, and is valid for too long. */
export function checkAssertion({ exp }: Record<string, unknown>, now: number) {
  if (Number(exp) > now / 1000 + ASSERTION_SECONDS) {
    throw new errors.InvalidClientAuth('the client_assertion JWT must expire within an hour')
  }
}

const isOfTeam = (client: Client) => client.grantTypeAllowed('refresh_token')

function readOrganisation({ oidc }: KoaContextWithOIDC): string {
  const organisation = oidc.body?.organisation
  if (typeof organisation !== 'string') throw new errors.InvalidRequest('organisation is needed, once')
  return organisation
}

/** The scopes that a request may get. Throws for an app itself that may have none in the club. */
export async function requestable(ctx: KoaContextWithOIDC, client: Client, options: Options) {
  const isForItself = ctx.oidc.params?.grant_type === 'client_credentials'
  return isForItself && isOfTeam(client) ? scopesOfApp(client, readOrganisation(ctx), options) : allowedScopes(client)
}

interface Options {
  db: Database
  clubApproval: boolean
  now: number
}

/** One refusal for every club: which ones exist, and whose members use the app, is not to be learned here. */
async function scopesOfApp(client: Client, organisation: string, { db, clubApproval, now }: Options) {
  if (isWaiting(client)) throw new errors.UnauthorizedClient('this client is pending approval')
  if (isSuspended(client)) throw new errors.UnauthorizedClient('this app is suspended')
  const { clientId } = client
  const access = await readAccess(db, { member: null, organisation, client: clientId, scopes: new Set() }, now)
  const ownTestClub = { id: organisation, testTeam: { clients: { some: { id: clientId } } } }
  const isOpen =
    access !== null &&
    (isSandbox(client)
      ? (await db.organisation.count({ where: ownTestClub })) > 0
      : !clubApproval || (await isApproved(db, { club: organisation, app: access.app ?? '' })))
  if (!isOpen) throw new errors.InvalidRequest('no member of this organisation allows the app its storage')
  return access.scopes
}

/** The claims of a client's own token. Throws without an existing organisation, or without a scope. */
export async function clientClaims(db: Database, ctx: KoaContextWithOIDC, { scope }: ClientCredentials) {
  const { client, params } = ctx.oidc
  const organisation = readOrganisation(ctx)
  if (!isOfTeam(client!) && !(await mayBeNamed(db, organisation, scope))) {
    throw new errors.InvalidRequest('this organisation does not exist')
  }
  if (!scope) throw new errors.InvalidScope('this client may have none of the scopes', String(params?.scope ?? ''))
  return { organisation }
}

async function mayBeNamed(db: Database, id: string, scope: string | undefined) {
  if (id === '' || !isPostgresText(id)) return false
  // The directory covers the whole platform, and even creates its first organisation.
  if (scope?.split(' ').every((name) => name.startsWith('directory:'))) return true
  return (await db.organisation.count({ where: { id } })) > 0
}

/** RFC 6749, 5.2, for a client that may not use the grant type. oidc-provider answers invalid_request. */
export function nameUnauthorizedClient(ctx: Context) {
  const { oidc, body, status } = ctx as Context & Partial<KoaContextWithOIDC>
  const isToken = oidc?.route === 'token'
  const type = isToken ? oidc.params?.grant_type : DEVICE_GRANT
  if ((!isToken && oidc?.route !== 'device_authorization') || status !== 400 || typeof type !== 'string') return
  if (oidc.client?.grantTypeAllowed(type) === false && isError(body)) body.error = 'unauthorized_client'
}

const isError = (body: unknown): body is { error: string } => Object(body).error === 'invalid_request'
