import type { ConsentScope } from '../../../../routers/kernel/identity-scopes.ts'
import { isIdentityScope, scopeWords } from '../../../../routers/kernel/identity-scopes.ts'
import type { Language } from '../../../browser/language.ts'
import type { OrganisationKind } from '../../consents/authorize-scopes.ts'
import { listOrganisationKinds } from '../../consents/authorize-scopes.ts'

/** Does not compile while a scope lacks a language of the pages. */
export const describeScope = (scope: ConsentScope, language: Language): string => scopeWords(scope)[language]

export const changes = (scope: ConsentScope) => !isIdentityScope(scope) && !scope.endsWith(':read')

export type Kind = OrganisationKind | 'organisation'

/** The kind of organisation that all of these scopes concern; 'organisation' if they differ. */
export function findKind(asked: readonly ConsentScope[]): Kind {
  const [kind, ...others] = listOrganisationKinds(asked)
  return kind === undefined || others.length > 0 ? 'organisation' : kind
}
