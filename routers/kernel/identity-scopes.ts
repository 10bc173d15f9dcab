import type { Scope } from './scopes.ts'
import { isScope, memberScopes, scopes } from './scopes.ts'

/**
 * OpenID Connect's scopes, for clients that have registered them: no endpoint of the APIs needs one, every level may have them,
 * and they are for members of any organisation. The descriptions are the consent page's.
 */
const identityDescriptions = {
  openid: 'Sign you in, and recognise you by your member id',
  profile: 'Read your name and picture',
  email: 'Read your e-mail address',
} as const

export type IdentityScope = keyof typeof identityDescriptions

/** What a member can allow an app. */
export type ConsentScope = Scope | IdentityScope

export const identityScopes = Object.keys(identityDescriptions) as IdentityScope[]

export const isIdentityScope = (text: string): text is IdentityScope => Object.hasOwn(identityDescriptions, text)

export const isConsentScope = (text: string): text is ConsentScope => isIdentityScope(text) || isScope(text)

const describe = (scope: ConsentScope) =>
  isIdentityScope(scope) ? identityDescriptions[scope] : scopes[scope].description

/** What each allows, in English. */
export const scopeDescriptions = Object.fromEntries(
  [...identityScopes, ...memberScopes].map((scope) => [scope, describe(scope)]),
) as Readonly<Record<ConsentScope, string>>
