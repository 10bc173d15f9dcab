import type { Level } from '../../routers/scopes.ts'
import { isAllowedAt, isScope } from '../../routers/scopes.ts'

export type ClientType = 'web' | 'native'

/** What somebody wants to register: a client, and the team and app that it belongs to. */
export interface Registration {
  id: string
  name: string
  type: ClientType
  environment: 'production' | 'sandbox'
  redirectUris: readonly string[]
  scopes: readonly string[]
  /** With a name and a level it is made where it does not exist. */
  team: { id: string; name?: string | undefined; level?: Level | undefined }
  /** Null: a client of no app. With a name and a provider it is made where it does not exist. */
  app: { id: string; name?: string | undefined; provider?: string | undefined } | null
}

/** All that is wrong with a registration by itself, a sentence each. */
export function faultsOf(wish: Registration, development: boolean): string[] {
  const { id, name, team, app } = wish
  return [
    ...nameFaults('client', { id, name }),
    ...nameFaults('team', team),
    ...nameFaults('app', app ?? {}),
    wish.redirectUris.length === 0 && 'A client needs an address to which members are sent back.',
    ...wish.redirectUris.map((address) => redirectFault(address, wish.type, development)),
    wish.scopes.length === 0 && 'A client needs a scope.',
    ...wish.scopes.map((scope) => !isScope(scope) && `There is no scope ${scope}.`),
  ].filter((fault) => typeof fault === 'string')
}

/** What is wrong with how something is called. */
export const nameFaults = (whose: string, { id, name }: { id?: string; name?: string | undefined }): string[] =>
  [
    id !== undefined && !isId(id) && `The id of the ${whose} ${ID_RULE}.`,
    name !== undefined && !isName(name) && `The name of the ${whose} ${NAME_RULE}.`,
  ].filter((fault) => typeof fault === 'string')

const ID_RULE = "is 1 to 64 letters, digits, '_' or '-'"
const isId = (text: string) => /^[A-Za-z0-9_-]{1,64}$/.test(text)

/** Members read names when they are asked for their consent: one line, and nothing that turns or hides letters. */
const NAME_RULE = 'is 1 to 100 characters of one line'
const isName = (text: string) => text.trim() === text && /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,100}$/u.test(text)

/** The scopes that a team of this level cannot hold, a sentence each. */
export const levelFaults = (wanted: readonly string[], level: Level): string[] =>
  wanted
    .filter((scope) => isScope(scope) && !isAllowedAt(level, scope))
    .map((scope) => `${scope} is for teams of level developer.`)

/**
 * What is wrong with an address to which members are sent back; null when nothing is. It is compared as written, so it
 * has to be written as a browser leaves it. RFC 9700, 4.1; RFC 8252, 7 and 8.3 for native apps.
 */
export function redirectFault(address: string, type: ClientType, development: boolean): string | null {
  const wrong = (why: string) => `${address} cannot be a redirect: ${why}.`
  if (address.length > 2048) return 'A redirect has at most 2048 characters.'
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(address)?.[1]?.toLowerCase()
  const plain = /^[\x21-\x7e]+$/.test(address) && !/[\\"<>^`{|}]/.test(address) && !/%(?![\dA-Fa-f]{2})/.test(address)
  if (scheme === undefined || !plain || !URL.canParse(address)) return wrong('it is no absolute address')
  if (address.includes('#')) return wrong('it has a fragment')
  if (scheme !== 'https' && scheme !== 'http') {
    if (type === 'native' && scheme.includes('.')) return null
    return wrong(
      type === 'native'
        ? 'the scheme of an app of its own has a dot, as com.example.app'
        : 'for type web it begins with https://',
    )
  }
  const { hostname, username, password } = new URL(address)
  if (!/^https?:\/\/[^/?]/i.test(address)) return wrong('it has no host')
  if (username !== '' || password !== '') return wrong('it names a user')
  if (hostname.includes('*')) return wrong('it is compared as it is written, and * stands for nothing else')
  return scheme === 'http' ? httpFault(hostname, type, development, wrong) : httpsFault(hostname, type, wrong)
}

const isLoopback = (hostname: string) => hostname === '127.0.0.1' || hostname === '[::1]'
const isLocalhost = (hostname: string) => hostname === 'localhost' || hostname.endsWith('.localhost')

/** Without TLS anybody on the way reads the code, unless there is no way. */
function httpFault(hostname: string, type: ClientType, development: boolean, wrong: (why: string) => string) {
  if (isLoopback(hostname) || (isLocalhost(hostname) && type === 'web' && development)) return null
  if (!isLocalhost(hostname)) return wrong('http:// is for 127.0.0.1 and [::1] alone')
  return wrong(
    type === 'native' ? 'a native app writes 127.0.0.1 or [::1] for localhost' : 'localhost is for development alone',
  )
}

/** A claimed address of a native app is a host's on the internet. */
function httpsFault(hostname: string, type: ClientType, wrong: (why: string) => string) {
  const own = isLoopback(hostname) || isLocalhost(hostname)
  return type === 'native' && own ? wrong('on this machine a native app listens at http://') : null
}
