import type { Level } from '../kernel/scopes.ts'
import { isAllowedAt, isFirstPartyScope, isScope } from '../kernel/scopes.ts'
import { isLine } from '../kernel/typed-text.ts'

export type ClientType = 'web' | 'native'

export interface Registration {
  id: string
  name: string
  type: ClientType
  environment: 'production' | 'sandbox'
  redirectUris: readonly string[]
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

export const firstPartyFaults = ({ id, name, scopes }: FirstPartyRegistration): string[] => [
  ...nameFaults('client', { id, name }),
  ...scopes.filter((scope) => !isFirstPartyScope(scope)).map((scope) => `${scope} is not a first-party scope.`),
]

export interface Settings {
  type: ClientType
  redirectUris: readonly string[]
  scopes: readonly string[]
}

export const faultsOf = (registration: Registration, development: boolean): string[] => [
  ...nameFaults('client', registration),
  ...nameFaults('team', registration.team),
  ...nameFaults('app', registration.app ?? {}),
  ...settingFaults(registration, development),
]

export const settingFaults = ({ type, redirectUris, scopes }: Settings, development: boolean): string[] => [
  ...redirectFaults(redirectUris, type, development),
  ...scopeFaults(scopes),
]

export const redirectFaults = (addresses: readonly string[], type: ClientType, development: boolean): string[] =>
  addresses.length === 0
    ? ['A client needs a redirect URI.']
    : addresses.flatMap((address) => redirectFault(address, type, development) ?? [])

export const scopeFaults = (wanted: readonly string[]): string[] =>
  wanted.length === 0
    ? ['A client needs a scope.']
    : wanted.filter((scope) => !isScope(scope)).map((scope) => `The scope ${scope} does not exist.`)

export const nameFaults = (whose: string, { id, name }: { id?: string; name?: string | undefined }): string[] =>
  [
    id !== undefined && !isId(id) && `The id of the ${whose} ${ID_RULE}.`,
    name !== undefined && !isName(name) && `The name of the ${whose} ${NAME_RULE}.`,
  ].filter((fault) => typeof fault === 'string')

const ID_RULE = "must be 1 to 64 letters, digits, '_' or '-'"
const isId = (text: string) => /^[A-Za-z0-9_-]{1,64}$/.test(text)

const NAME_RULE = 'must be 1 to 100 characters on one line'
const isName = (text: string) => text.trim() === text && isLine(text, 100)

export const levelFaults = (wanted: readonly string[], level: Level): string[] =>
  wanted
    .filter((scope) => isScope(scope) && !isAllowedAt(level, scope))
    .map((scope) => `${scope} is only for teams with the Developer level.`)

/**
 * Returns a sentence, or null for a valid redirect URI. Redirects are compared as strings, so they must be in the form that a
 * browser sends. RFC 9700, 4.1; RFC 8252, 7 and 8.3 for native apps.
 */
export function redirectFault(address: string, type: ClientType, development: boolean): string | null {
  const wrong = (why: string) => `${address} cannot be a redirect URI: ${why}.`
  if (address.length > 2048) return 'A redirect URI can have at most 2048 characters.'
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(address)?.[1]?.toLowerCase()
  const plain = /^[\x21-\x7e]+$/.test(address) && !/[\\"<>^`{|}]/.test(address) && !/%(?![\dA-Fa-f]{2})/.test(address)
  if (scheme === undefined || !plain || !URL.canParse(address)) return wrong('it is not an absolute URI')
  if (address.includes('#')) return wrong('it has a fragment')
  if (scheme !== 'https' && scheme !== 'http') {
    if (type === 'native' && scheme.includes('.')) return null
    return wrong(
      type === 'native'
        ? 'the scheme of a native app contains a dot, as in com.example.app'
        : 'a web client must use https://',
    )
  }
  const { hostname, username, password } = new URL(address)
  if (!/^https?:\/\/[^/?]/i.test(address)) return wrong('it has no host')
  if (username !== '' || password !== '') return wrong('it contains a user name')
  if (hostname.includes('*')) return wrong('wildcards are not supported')
  return scheme === 'http' ? httpFault(hostname, type, development, wrong) : httpsFault(hostname, type, wrong)
}

const isLoopback = (hostname: string) => hostname === '127.0.0.1' || hostname === '[::1]'
const isLocalhost = (hostname: string) => hostname === 'localhost' || hostname.endsWith('.localhost')

/** Without TLS the code can be read on the network, which requests to this machine do not reach. */
function httpFault(hostname: string, type: ClientType, development: boolean, wrong: (why: string) => string) {
  if (isLoopback(hostname) || (isLocalhost(hostname) && type === 'web' && development)) return null
  if (!isLocalhost(hostname)) return wrong('http:// is for 127.0.0.1 and [::1] only')
  return wrong(
    type === 'native'
      ? 'a native app must use 127.0.0.1 or [::1] instead of localhost'
      : 'localhost is for development only',
  )
}

/** A claimed https redirect of a native app names a host on the internet. */
function httpsFault(hostname: string, type: ClientType, wrong: (why: string) => string) {
  const own = isLoopback(hostname) || isLocalhost(hostname)
  return type === 'native' && own ? wrong('a native app must use http:// on this machine') : null
}
