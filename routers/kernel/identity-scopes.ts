import type { Scope } from './scopes.ts'
import { isScope, scopes } from './scopes.ts'

/**
 * OpenID Connect's scopes, for clients that have registered them: no endpoint of the APIs needs one, every level may have them,
 * and they are for members of any organisation. The words are the consent page's.
 */
const identityWords = {
  openid: {
    en: 'Sign you in, and recognise you by your member id',
    de: 'Anmelden, und das Mitglied an seiner Kennung wiedererkennen',
  },
  profile: { en: 'Read your name and picture', de: 'Name und Bild lesen' },
  email: { en: 'Read your e-mail address', de: 'E-Mail-Adresse lesen' },
} as const

export type IdentityScope = keyof typeof identityWords

/** What a member can allow an app. */
export type ConsentScope = Scope | IdentityScope

export const identityScopes = Object.keys(identityWords) as IdentityScope[]

export const isIdentityScope = (text: string): text is IdentityScope => Object.hasOwn(identityWords, text)

export const isConsentScope = (text: string): text is ConsentScope => isIdentityScope(text) || isScope(text)

export const scopeWords = (scope: ConsentScope): Readonly<Record<'en' | 'de', string>> =>
  isIdentityScope(scope) ? identityWords[scope] : scopes[scope].words
