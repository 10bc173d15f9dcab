import type { ConsentScope } from '../kernel/identity-scopes.ts'
import { isConsentScope, isIdentityScope } from '../kernel/identity-scopes.ts'
import { scopes } from '../kernel/scopes.ts'

export interface AskedScope {
  scope: ConsentScope
  /** As the app's clients state them, without repetition. */
  purposes: string[]
}

type Clients = readonly { scopes: readonly string[] | null; purpose: unknown }[]

/** What the clients of an app may ask members of a club for. */
export function listAskedScopes(clients: Clients) {
  const asked = [...new Set(clients.flatMap((client) => client.scopes ?? []))]
    .filter(isConsentScope)
    .filter((scope) => isIdentityScope(scope) || scopes[scope].section === 'apps')
  return withPurposes(asked, clients)
}

/** Scopes that were asked for, with the purposes that the clients state now. */
export const withPurposes = (asked: readonly string[], clients: Clients) =>
  asked.filter(isConsentScope).map((scope): AskedScope => {
    const stated = clients.flatMap(({ purpose }) => (purpose as Record<string, string> | null)?.[scope] || [])
    return { scope, purposes: [...new Set(stated)] }
  })
