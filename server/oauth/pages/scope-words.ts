import type { Scope } from '../../../routers/kernel/scopes.ts'
import { scopes } from '../../../routers/kernel/scopes.ts'
import type { Language } from '../../browser/language.ts'
import type { OrganisationKind } from '../authorize-scopes.ts'
import { organisationKindOf } from '../authorize-scopes.ts'

/** Does not compile while a scope lacks a language of the pages. */
export const wordsOf = (scope: Scope, language: Language): string => scopes[scope].words[language]

export const changes = (scope: Scope) => !scope.endsWith(':read')

export type Kind = OrganisationKind | 'organisation'

/** The kind of organisation that all of these scopes concern; 'organisation' if they differ. */
export function kindOf(asked: readonly Scope[]): Kind {
  const [kind, ...others] = new Set(asked.map(organisationKindOf))
  return kind === undefined || others.length > 0 ? 'organisation' : kind
}
