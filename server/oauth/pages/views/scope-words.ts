import type { ConsentScope } from '../../../../routers/kernel/identity-scopes.ts'
import { isIdentityScope } from '../../../../routers/kernel/identity-scopes.ts'
import type { OrganisationKind } from '../../consents/authorize-scopes.ts'
import { listOrganisationKinds } from '../../consents/authorize-scopes.ts'

export const changes = (scope: ConsentScope) => !isIdentityScope(scope) && !scope.endsWith(':read')

export type Kind = OrganisationKind | 'organisation'

/** The kind of organisation that all of these scopes concern; 'organisation' if they differ. */
export function findKind(asked: readonly ConsentScope[]): Kind {
  const [kind, ...others] = listOrganisationKinds(asked)
  return kind === undefined || others.length > 0 ? 'organisation' : kind
}
