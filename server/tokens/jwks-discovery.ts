import type { JSONWebKeySet } from 'jose'
import { isLoopback } from './loopback.ts'

const LIMIT_BYTES = 256 * 1024

/** Whether nobody on the network can change what is read from this address: https, or http on this machine. */
export function isSecure(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, hostname, username, password } = new URL(address)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

export interface IssuerAddress {
  issuer: string
  /** Undefined: the address in the issuer's metadata. */
  jwksUrl: string | undefined
}

/** Reads an issuer's key set, each document within `timeoutMs`; throws if it cannot. */
export async function readKeySet({ issuer, jwksUrl }: IssuerAddress, timeoutMs: number): Promise<JSONWebKeySet> {
  const address = jwksUrl ?? (await discover(issuer, timeoutMs))
  const { keys } = await readDocument(address, timeoutMs)
  // Using an empty set would refuse every token: more likely a mistake of the issuer's.
  if (!Array.isArray(keys) || !keys.some(isSigningKey)) {
    throw new InvalidIssuerDocument(`${address} contains no signing keys`)
  }
  return { keys }
}

const isSigningKey = (key: unknown) => {
  const { kty, use = 'sig' } = Object(key)
  return use === 'sig' && ['EC', 'OKP', 'RSA'].includes(kty)
}

/** The issuer responds, but not with a usable document. */
class InvalidIssuerDocument extends Error {}

async function discover(issuer: string, timeoutMs: number): Promise<string> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const addresses = [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ]
  let first: InvalidIssuerDocument | undefined
  for (const address of addresses) {
    try {
      return jwksAddress(await readDocument(address, timeoutMs), issuer, address)
    } catch (error) {
      if (!(error instanceof InvalidIssuerDocument)) throw error
      first ??= error
    }
  }
  throw first
}

function jwksAddress(metadata: Record<string, unknown>, issuer: string, address: string): string {
  const { issuer: named, jwks_uri: jwksUri } = metadata
  // RFC 8414, 3.3: otherwise the keys of another issuer would be trusted.
  if (named !== issuer) throw new InvalidIssuerDocument(`${address} names another issuer than ${issuer}`)
  if (typeof jwksUri !== 'string' || !isSecure(jwksUri)) {
    throw new InvalidIssuerDocument(`${address} names no https address for the keys`)
  }
  return jwksUri
}

/** Does not follow redirects: they could lead to any host. */
async function readDocument(address: string, timeoutMs: number): Promise<Record<string, unknown>> {
  const text = await read(address, {
    redirect: 'manual',
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((cause) => {
    if (cause instanceof InvalidIssuerDocument) throw cause
    throw new Error(`${address} cannot be read: ${cause.cause?.code ?? cause.message}`)
  })
  try {
    return Object(JSON.parse(text))
  } catch {
    throw new InvalidIssuerDocument(`${address} does not return JSON`)
  }
}

async function read(address: string, init: RequestInit): Promise<string> {
  const { status, body } = await fetch(address, init)
  if (status !== 200 || !body) {
    await body?.cancel()
    throw new InvalidIssuerDocument(`${address} returns status ${status}`)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > LIMIT_BYTES) throw new InvalidIssuerDocument(`${address} returns more than ${LIMIT_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
