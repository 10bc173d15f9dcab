import type { JSONWebKeySet } from 'jose'
import { parseUrl } from '../../prisma/parse-url.ts'
import { boundedFetch } from './bounded-fetch.ts'
import { isLoopback } from './loopback.ts'

/** Whether the network cannot alter what is read from this address: https, or http on this machine. */
export function isSecure(address: string): boolean {
  const url = parseUrl(address)
  if (!url) return false
  const { protocol, hostname, username, password } = url
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

export interface IssuerAddress {
  issuer: string
  /** By default the address in the issuer's metadata. */
  jwksUrl: string | undefined
}

/** Throws if the key set cannot be read. */
export async function readKeySet({ issuer, jwksUrl }: IssuerAddress, signal: AbortSignal): Promise<JSONWebKeySet> {
  const address = jwksUrl ?? (await discover(issuer, signal))
  const { keys } = await readDocument(address, signal)
  // An empty set would refuse every token, and is more likely the issuer's mistake.
  const signing = Array.isArray(keys) ? keys.filter(isSigningKey) : []
  if (signing.length === 0) throw new Error(`${address} contains no signing keys`)
  return { keys: signing }
}

const isSigningKey = (key: unknown) => {
  const { kty, use = 'sig' } = Object(key)
  return use === 'sig' && ['EC', 'OKP', 'RSA'].includes(kty)
}

/** The address of the keys. openid-client would let Microsoft's issuers name issuers other than themselves. */
async function discover(issuer: string, signal: AbortSignal): Promise<string> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const openid = `${origin}${path}/.well-known/openid-configuration`
  const oauth = `${origin}/.well-known/oauth-authorization-server${path}`
  return jwksAddress(issuer, openid, signal).catch((first) =>
    jwksAddress(issuer, oauth, signal).catch(() => {
      throw first
    }),
  )
}

async function jwksAddress(issuer: string, address: string, signal: AbortSignal): Promise<string> {
  const { issuer: named, jwks_uri: jwksUri } = await readDocument(address, signal)
  // RFC 8414, 3.3: otherwise the keys of another issuer would be trusted.
  if (named !== issuer) throw new Error(`${address} names another issuer than ${issuer}`)
  if (typeof jwksUri !== 'string' || !isSecure(jwksUri))
    throw new Error(`${address} names no https address for the keys`)
  return jwksUri
}

/** Does not follow redirects: they could lead to any host. */
async function readDocument(address: string, signal: AbortSignal): Promise<Record<string, unknown>> {
  try {
    const response = await boundedFetch(address, {
      redirect: 'manual',
      headers: { accept: 'application/json' },
      signal,
    })
    if (response.status === 200) return Object(await response.json())
    throw new Error(`its status is ${response.status}`)
  } catch (cause) {
    throw new Error(`${address} cannot be read`, { cause })
  }
}
