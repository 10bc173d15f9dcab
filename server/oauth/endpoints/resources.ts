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
  if (!URL.canParse(resource)) return null
  const { href, protocol } = new URL(resource)
  return protocol === 'urn:' ? href : href.replace(/\/$/, '')
}
