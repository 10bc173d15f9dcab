import type { Level, Scope, Section } from '../../routers/scopes.ts'
import { isAllowedAt, isScope, scopes } from '../../routers/scopes.ts'

export type OrganisationKind = 'club' | 'academy' | 'provider'

const organisationKinds: Record<Section, OrganisationKind> = { apps: 'club', lms: 'academy', notify: 'provider' }

/** The kind of organisation whose members the scope is for. */
export const organisationKindOf = (scope: Scope) => organisationKinds[scopes[scope].section]

/** The scopes that a client may request: those registered for it that its team's present level allows. */
export const requestableScopes = (client: { scopes: readonly string[]; team: { level: Level } }): Scope[] =>
  client.scopes.filter(isScope).filter((scope) => isAllowedAt(client.team.level, scope))

/** The allowed scopes that the `scope` parameter of a request names, in our order; it ignores unknown ones. */
export function requestedScopes(parameter: unknown, allowed: readonly Scope[]): Scope[] {
  const named = typeof parameter === 'string' ? parameter.split(' ') : []
  return allowed.filter((scope) => named.includes(scope))
}
