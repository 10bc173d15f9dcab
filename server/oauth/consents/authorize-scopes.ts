import type { Client } from 'oidc-provider'
import type { ConsentScope } from '../../../routers/kernel/identity-scopes.ts'
import { isConsentScope, isIdentityScope } from '../../../routers/kernel/identity-scopes.ts'
import type { Level, Scope, TokenSection } from '../../../routers/kernel/scopes.ts'
import { isAllowedAt, isScope, scopes } from '../../../routers/kernel/scopes.ts'

export type OrganisationKind = 'club' | 'academy' | 'provider'

const organisationKinds: Record<TokenSection, OrganisationKind> = { apps: 'club', lms: 'academy', notify: 'provider' }

/** The kind of organisation whose members the scope is for. */
export const findOrganisationKind = (scope: Scope) => organisationKinds[scopes[scope].section]

/** The kinds of organisation that the scopes are for: every kind if none of them is an API's. */
export function listOrganisationKinds(asked: readonly ConsentScope[]): OrganisationKind[] {
  const kinds = new Set(asked.filter(isScope).map(findOrganisationKind))
  return kinds.size > 0 ? [...kinds] : Object.values(organisationKinds)
}

export const isFor = (kind: OrganisationKind) => (scope: ConsentScope) =>
  isIdentityScope(scope) || findOrganisationKind(scope) === kind

/** The client's registered scopes that its team's current level allows. */
export const requestableScopes = (registered: readonly string[], level: Level): ConsentScope[] =>
  registered.filter(isConsentScope).filter((scope) => isIdentityScope(scope) || isAllowedAt(level, scope))

/** The client metadata in which the adapter passes the scopes; oidc-provider's types lack it. */
export const ALLOWED_SCOPES = 'allowed_scopes'
export const allowedScopes = (client: unknown) => (client as Record<typeof ALLOWED_SCOPES, string[]>)[ALLOWED_SCOPES]

/** Client metadata that is true while the client's app is suspended. */
export const SUSPENDED = 'suspended'
export const isSuspended = (client: unknown) => (client as Record<typeof SUSPENDED, boolean>)[SUSPENDED]

/** Client metadata: `sandbox` for sandbox clients, `waiting` for clients pending approval. */
export const SANDBOX = 'sandbox'
export const isSandbox = (client: unknown) => (client as Record<typeof SANDBOX, boolean>)[SANDBOX]
export const WAITING = 'waiting'
export const isWaiting = (client: unknown) => (client as Record<typeof WAITING, boolean>)[WAITING]

/** Client metadata: where a sign-out may return to. */
export const POST_LOGOUT_URIS = 'post_logout_uris'
const postLogoutUris = (client: unknown) =>
  (client as { [POST_LOGOUT_URIS]?: readonly string[] })[POST_LOGOUT_URIS] ?? []

/** Whether a sign-out may return there. As for its redirect URIs, a native app may use any port of this machine. */
export const isPostLogoutUri = (client: Client, uri: string) =>
  postLogoutUris(client).includes(uri) ||
  (client.applicationType === 'native' && postLogoutUris(client).map(withoutPort).includes(withoutPort(uri)))

const withoutPort = (uri: string) =>
  uri.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)):\d{1,5}(?=[/?]|$)/, '$1')

/** The allowed scopes that the `scope` parameter names, in this service's order. Others are ignored. */
export function requestedScopes(client: unknown, parameter: unknown): ConsentScope[] {
  const named = typeof parameter === 'string' ? parameter.split(' ') : []
  return allowedScopes(client)
    .filter(isConsentScope)
    .filter((scope) => named.includes(scope))
}
