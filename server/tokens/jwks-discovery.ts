import type { JSONWebKeySet } from 'jose'
import { isLoopback } from './loopback.ts'

/** How long each document may take, and how large it may be. */
const TIMEOUT_MS = 2_500
const LIMIT_BYTES = 256 * 1024

/** Whether what is read there is what its owner wrote: https, or this machine. */
export function isSecure(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, hostname, username, password } = new URL(address)
  if (username !== '' || password !== '') return false
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}

/** The keys that an issuer signs with; without an address of their own, where its metadata says. */
export async function readKeySet(issuer: string, jwksUrl?: string): Promise<JSONWebKeySet> {
  const address = jwksUrl ?? (await discover(issuer))
  const { keys } = await readDocument(address)
  // An empty set would refuse every token, so it is taken for a mistake.
  if (!Array.isArray(keys) || !keys.some(isSigning))
    throw new InvalidIssuerDocument(`${address} holds no key to verify with`)
  return { keys }
}

const isSigning = (key: unknown) => {
  const { kty, use = 'sig' } = Object(key)
  return use === 'sig' && ['EC', 'OKP', 'RSA'].includes(kty)
}

/** The issuer has answered, though not with what we need. */
class InvalidIssuerDocument extends Error {}

async function discover(issuer: string): Promise<string> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const places = [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ]
  let first: InvalidIssuerDocument | undefined
  for (const place of places) {
    try {
      return keysNamedBy(await readDocument(place), issuer, place)
    } catch (error) {
      if (!(error instanceof InvalidIssuerDocument)) throw error
      first ??= error
    }
  }
  throw first
}

function keysNamedBy(metadata: Record<string, unknown>, issuer: string, place: string): string {
  const { issuer: named, jwks_uri: keys } = metadata
  // Metadata of another issuer would have us believe that one's keys.
  if (named !== issuer) throw new InvalidIssuerDocument(`${place} is about another issuer than ${issuer}`)
  if (typeof keys !== 'string' || !isSecure(keys))
    throw new InvalidIssuerDocument(`${place} names no https address of keys`)
  return keys
}

/** Redirects are not followed, as they could lead anywhere. */
async function readDocument(address: string): Promise<Record<string, unknown>> {
  const given = { redirect: 'manual', headers: { accept: 'application/json' } } as const
  const text = await read(address, { ...given, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((cause) => {
    if (cause instanceof InvalidIssuerDocument) throw cause
    throw new Error(`${address} cannot be read: ${cause.cause?.code ?? cause.message}`)
  })
  try {
    return Object(JSON.parse(text))
  } catch {
    throw new InvalidIssuerDocument(`${address} does not answer with JSON`)
  }
}

async function read(address: string, init: RequestInit): Promise<string> {
  const { status, body } = await fetch(address, init)
  if (status !== 200 || !body) {
    await body?.cancel()
    throw new InvalidIssuerDocument(`${address} answers with ${status}`)
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > LIMIT_BYTES) throw new InvalidIssuerDocument(`${address} answers with more than ${LIMIT_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
