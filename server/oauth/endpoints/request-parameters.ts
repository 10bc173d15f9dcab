import { parseUrl } from '../../../prisma/parse-url.ts'
import { AUDIENCE } from '../../tokens/audience.ts'

/** Replaces the resources of a request (RFC 8707) if this service knows them all; returns whether it has. */
export type NameResource = (request: URLSearchParams) => boolean

/**
 * Each token is for all APIs, so it makes no difference which of them a request names, by its base URL with or without a final
 * slash, or several. Others are left for oidc-provider, which refuses them with `invalid_target`.
 */
export function resourceNames(baseUrls: readonly string[]): NameResource {
  const known = new Set([AUDIENCE, ...baseUrls].map(comparable))
  return (request) => {
    const asked = request.getAll('resource').filter((one) => one !== '')
    if (asked.length === 0 || !asked.every((one) => known.has(comparable(one)))) return false
    request.delete('resource')
    request.set('resource', AUDIENCE)
    return true
  }
}

function comparable(resource: string): string | null {
  const url = parseUrl(resource)
  if (!url) return null
  const { href, protocol } = url
  return protocol === 'urn:' ? href : href.replace(/\/$/, '')
}

const MAX_QUERY = 4_096

export const QUERY_TOO_LONG = 'the query is longer than 4 KB'

/**
 * A query of an app's request; null above 4 KB. It counts as URLSearchParams writes it, as pages repeat it in this form: a request
 * that passes at first still passes after its member has signed in.
 */
export function parseQuery(search: string): URLSearchParams | null {
  if (search.length > MAX_QUERY) return null
  const query = new URLSearchParams(search)
  return String(query).length > MAX_QUERY ? null : query
}

/** Parameters of OpenID Connect that have no effect here, whatever they say. */
const WITHOUT_EFFECT = ['acr_values', 'claims', 'claims_locales', 'display']

/** Parameters that help a sign-in along. */
const HINTS = ['id_token_hint', 'login_hint', 'ui_locales']

/** Without `openid` there is no ID token that these are about. */
const OF_ID_TOKENS = ['nonce', 'max_age', 'id_token_hint']

/** An ID token is checked, the others are stored. */
const MAX_STORED = 1_024

/**
 * Drops what a request only hints at, where it cannot be used: a hint is never an error. oidc-provider refuses hints without
 * `openid`, and repeated ones. Returns whether something was dropped.
 */
export function dropHints(request: URLSearchParams, isOpenid: boolean): boolean {
  const dropped = [...(isOpenid ? [] : OF_ID_TOKENS), ...WITHOUT_EFFECT].filter((name) => request.has(name))
  dropped.push(...HINTS.filter((name) => request.has(name) && !isUsable(name, request.getAll(name))))
  for (const name of dropped) request.delete(name)
  return dropped.length > 0
}

const isUsable = (name: string, [value, ...more]: string[]) =>
  more.length === 0 && (name === 'id_token_hint' || (value!.length <= MAX_STORED && !value!.includes('\0')))
