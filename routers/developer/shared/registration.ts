import type { IdTokenAlgorithm } from '../../../prisma/generated/enums.ts'
import { parseUrl } from '../../../prisma/parse-url.ts'
import { isConsentScope, isIdentityScope } from '../../kernel/identity-scopes.ts'
import type { Level } from '../../kernel/scopes.ts'
import { isAllowedAt, isFirstPartyScope, isScope } from '../../kernel/scopes.ts'
import { lineFault } from '../../kernel/text-input.ts'
import type { Fault, RedirectReason } from './validation.ts'
import { fault, textFaults } from './validation.ts'

export type ClientType = 'web' | 'native'

export interface Registration {
  id: string
  name: string
  type: ClientType
  environment: 'production' | 'sandbox'
  redirectUris: readonly string[]
  /** Undefined, as the next one: an existing client keeps its own. */
  postLogoutRedirectUris?: readonly string[] | undefined
  idTokenAlgorithm?: IdTokenAlgorithm | undefined
  devices?: boolean
  scopes: readonly string[]
  /** Created if it does not exist, when name and level are given. */
  team: { id: string; name?: string | undefined; level?: Level | undefined }
  /** Null: the client has no app. Created if it does not exist, when name and provider are given. */
  app: { id: string; name?: string | undefined; provider?: string | undefined } | null
}

export interface FirstPartyRegistration {
  id: string
  name: string
  scopes: readonly string[]
  /** Null: an external issuer issues its tokens. */
  credentials: { secretHash: string } | { jwks: { keys: Record<string, string>[] } } | null
}

export const firstPartyFaults = ({ id, name, scopes }: FirstPartyRegistration): Fault[] => [
  ...nameFaults('client', { id, name }),
  ...scopes.filter((scope) => !isFirstPartyScope(scope)).map((scope) => fault('scopes', 'scopeFirstParty', scope)),
]

export interface Settings {
  type: ClientType
  redirectUris: readonly string[]
  devices?: boolean
  scopes: readonly string[]
}

export const findFaults = (registration: Registration, development: boolean): Fault[] => [
  ...nameFaults('client', registration),
  ...nameFaults('team', registration.team),
  ...nameFaults('app', registration.app ?? {}),
  ...settingFaults(registration, development),
  ...logoutFaults(registration.postLogoutRedirectUris ?? [], registration.redirectUris, registration.type, development),
]

/** Only its developers and test members use a sandbox client, so `localhost` is allowed as in development. */
export const isForDevelopment = ({ environment }: Pick<Registration, 'environment'>) => environment === 'sandbox'

/**
 * The algorithm for a client that gets its first scopes, or adds `openid`, and chooses none: some libraries verify RS256 alone
 * unless they are configured. Undefined where there is nothing to decide.
 */
export const firstAlgorithm = (
  scopes: readonly string[],
  before: readonly string[],
  chosen?: IdTokenAlgorithm | undefined,
): IdTokenAlgorithm | undefined =>
  chosen ?? (scopes.includes('openid') && !before.includes('openid') ? 'RS256' : undefined)

export const settingFaults = (settings: Settings, development: boolean): Fault[] => [
  ...redirectFaults(settings.redirectUris, settings, development),
  ...scopeFaults(settings.scopes),
]

/** A client that signs its members in on devices alone has none. */
export const redirectFaults = (
  addresses: readonly string[],
  { type, devices }: Pick<Settings, 'type' | 'devices'>,
  development: boolean,
): Fault[] =>
  addresses.length === 0 && !devices
    ? [fault('redirectUris', 'redirectMissing')]
    : addresses.flatMap((address) => redirectFault(address, type, development) ?? [])

export const scopeFaults = (wanted: readonly string[]): Fault[] =>
  wanted.length === 0
    ? [fault('scopes', 'scopeMissing')]
    : [
        ...wanted.filter((scope) => !isConsentScope(scope)).map((scope) => fault('scopes', 'scopeUnknown', scope)),
        ...(wanted.some(isIdentityScope) && !wanted.includes('openid') ? [fault('scopes', 'scopeOpenid')] : []),
      ]

export const nameFaults = (whose: string, { id, name }: { id?: string; name?: string | undefined }): Fault[] => [
  ...(id !== undefined && !isId(id) ? [fault('id', 'id', whose)] : []),
  ...(name === undefined ? [] : faultsOfName(whose, name)),
]

function faultsOfName(whose: string, name: string): Fault[] {
  const trimmed = name.trim()
  if (trimmed !== '' && trimmed !== name) return [fault('name', 'spaces', whose)]
  return textFaults('name', ['name', whose], lineFault(trimmed, MAX_NAME), fault('name', 'name', whose))
}

const isId = (text: string) => /^[A-Za-z0-9_-]{1,64}$/.test(text)
export const MAX_NAME = 100
export const MAX_REDIRECT_URI = 2048

export const levelFaults = (wanted: readonly string[], level: Level): Fault[] =>
  wanted
    .filter((scope) => isScope(scope) && !isAllowedAt(level, scope))
    .map((scope) => fault('scopes', 'scopeLevel', scope))

/** As people type an address: `localhost:5210`, `app.example/back`. */
const startsWithHost = /^(?:localhost|[\w-]+(?:\.[\w-]+)+|[\w-]+(?=:\d))(?::\d+)?(?:[/?]|$)/i

/**
 * Null for a valid redirect URI. Redirects are compared as strings, so they must be in the form that a
 * browser sends. RFC 9700, 4.1; RFC 8252, 7 and 8.3 for native apps.
 */
export function redirectFault(address: string, type: ClientType, development: boolean): Fault | null {
  const wrong = (why: RedirectReason) => fault('redirectUris', 'redirect', address, why)
  if (address.length > MAX_REDIRECT_URI) return fault('redirectUris', 'redirectTooLong')
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(address)?.[1]?.toLowerCase()
  if (/\s/.test(address)) return wrong('whiteSpace')
  if (/[^\0-\x7f]/.test(address)) return wrong('notAscii')
  if (/[\0-\x20\x7f\\"<>^`{|}]|%(?![\dA-Fa-f]{2})/.test(address)) return wrong('notEncoded')
  if (startsWithHost.test(address)) return wrong('schemeMissing')
  const url = parseUrl(address)
  if (scheme === undefined || !url) return wrong('notAbsolute')
  if (address.includes('#')) return wrong('fragment')
  if (scheme !== 'https' && scheme !== 'http') {
    if (type === 'native' && scheme.includes('.')) return null
    return wrong(type === 'native' ? 'nativeScheme' : 'webScheme')
  }
  const { hostname, username, password } = url
  if (!/^https?:\/\/[^/?]/i.test(address)) return wrong('noHost')
  if (username !== '' || password !== '') return wrong('userName')
  if (hostname.includes('*')) return wrong('wildcard')
  return scheme === 'http' ? httpFault(hostname, type, development, wrong) : httpsFault(hostname, type, wrong)
}

/** The bound of a list in the database. */
const MAX_LOGOUT_BYTES = 64 * 1024

export const logoutFaults = (
  addresses: readonly string[],
  redirectUris: readonly string[],
  type: ClientType,
  development: boolean,
): Fault[] => {
  const field = 'postLogoutRedirectUris'
  if (addresses.join('').length > MAX_LOGOUT_BYTES) return [fault(field, 'logoutsTooLong')]
  return addresses.flatMap((address) => {
    const wrong = redirectFault(address, type, development)
    if (wrong) return { ...wrong, field }
    return isBeside(address, redirectUris) ? [] : fault(field, 'logoutElsewhere', address)
  })
}

/** Whether it has the scheme and host of one of these redirect URIs. */
export const isBeside = (address: string, redirectUris: readonly string[]) =>
  redirectUris.some((uri) => toPlace(uri) === toPlace(address))

function toPlace(uri: string) {
  const { protocol, host } = new URL(uri)
  return `${protocol}//${host}`
}

const isLoopback = (hostname: string) => hostname === '127.0.0.1' || hostname === '[::1]'
const isLocalhost = (hostname: string) => hostname === 'localhost' || hostname.endsWith('.localhost')
export const isThisMachine = (hostname: string) => isLoopback(hostname) || isLocalhost(hostname)

/** Without TLS the code can be read on the network, which requests to this machine do not reach. */
function httpFault(hostname: string, type: ClientType, development: boolean, wrong: (why: RedirectReason) => Fault) {
  if (isLoopback(hostname) || (type === 'native' && hostname === 'localhost')) return null
  if (isLocalhost(hostname) && type === 'web' && development) return null
  if (!isLocalhost(hostname)) return wrong('httpHost')
  return wrong(type === 'native' ? 'nativeLocalhost' : 'localhost')
}

/** A claimed https redirect of a native app names a host on the internet. */
function httpsFault(hostname: string, type: ClientType, wrong: (why: RedirectReason) => Fault) {
  return type === 'native' && isThisMachine(hostname) ? wrong('nativeHttps') : null
}
