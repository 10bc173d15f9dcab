import type { DueMail } from '../../routers/developer/mails/due.ts'
import { isConsentScope, isIdentityScope, scopeWords } from '../../routers/kernel/identity-scopes.ts'
import { scopes } from '../../routers/kernel/scopes.ts'
import type { Language } from '../browser/language.ts'

type Clients = NonNullable<DueMail['request']>['clients']

/** What an app's clients may ask members of a club for, in the words of the consent page, each with what it is for. */
export function listScopes(clients: Clients, language: Language): string[] {
  const asked = [...new Set(clients.flatMap((client) => client.scopes ?? []))]
  const forClubs = asked
    .filter(isConsentScope)
    .filter((scope) => isIdentityScope(scope) || scopes[scope].section === 'apps')
  return forClubs.map((scope) => {
    const purposes = new Set(clients.flatMap(({ purpose }) => purpose?.[scope] || []))
    return [scopeWords(scope)[language], ...purposes].join('\n  ')
  })
}
