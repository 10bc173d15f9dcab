import type { Provider } from 'oidc-provider'
import type { ConsentScope } from '../../../routers/kernel/identity-scopes.ts'
import { isIdentityScope } from '../../../routers/kernel/identity-scopes.ts'
import { AUDIENCE } from '../../tokens/audience.ts'

interface Allowed {
  accountId: string
  clientId: string
  scopes: readonly ConsentScope[]
  /** By default a new one. */
  jti?: string
  /** Only for a consent that is stored already. */
  expiresIn?: number
}

/** A grant of oidc-provider, not yet saved. An access token has the scopes of the APIs and of userinfo: it works at both. */
export function createGrant(provider: Provider, { scopes, ...properties }: Allowed) {
  const grant = new provider.Grant(properties)
  grant.addResourceScope(AUDIENCE, scopes.join(' '))
  grant.addOIDCScope(scopes.filter(isIdentityScope))
  return grant
}
