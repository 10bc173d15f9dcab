import type { Scope } from '../../routers/scopes.ts'

export type OrganisationKind = 'club' | 'academy' | 'provider'

/** Of which kind of organisation a member has to be for a scope to be of use: the first segment names its section. */
const kinds: Record<string, OrganisationKind> = { svc: 'club', lms: 'academy', ntf: 'provider' }

export const kindOf = (scope: Scope): OrganisationKind => kinds[scope.slice(0, 3)]!

/** Those of the allowed ones that a request names, in our order; whatever else it names is not asked for. */
export function askedScopes(request: unknown, allowed: readonly string[]): Scope[] {
  const named = typeof request === 'string' ? request.split(' ') : []
  return (allowed as Scope[]).filter((scope) => named.includes(scope))
}
