import type { JsonWebKey } from 'node:crypto'
import { createPublicKey } from 'node:crypto'

/** The members of a public key (RFC 7518, 6; RFC 8037): other members of a JWK are dropped, private parts are refused. */
const PUBLIC = ['kty', 'crv', 'x', 'y', 'n', 'e', 'kid'] as const
const CURVES = ['P-256', 'Ed25519']
const MIN_RSA_BITS = 2048

/**
 * Accepts a JWK set, a single JWK, or a public key in PEM. Throws a sentence for anything but public keys of P-256, Ed25519 or
 * RSA.
 */
export function publicKeySet(text: string): { keys: Record<string, string>[] } {
  const keys = text.trimStart().startsWith('{') ? ofJson(text) : [ofPem(text)]
  if (keys.length === 0) throw new Error('The file contains no key.')
  return { keys: keys.map(publicJwk) }
}

function ofJson(text: string): JsonWebKey[] {
  const value = parsed(text)
  const keys: unknown = Object.hasOwn(value, 'keys') ? value.keys : [value]
  if (!Array.isArray(keys)) throw new Error('keys must be a list.')
  return keys
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('The file is neither JSON nor PEM.')
  }
}

function ofPem(text: string): JsonWebKey {
  if (text.includes('PRIVATE KEY')) throw privateKey()
  return readable(() => createPublicKey(text).export({ format: 'jwk' }))
}

function publicJwk(jwk: JsonWebKey): Record<string, string> {
  if (['d', 'k', 'p', 'q'].some((name) => Object.hasOwn(Object(jwk), name))) throw privateKey()
  const key = readable(() => createPublicKey({ key: jwk, format: 'jwk' }))
  const { kty, crv } = jwk
  const { modulusLength = 0 } = key.asymmetricKeyDetails ?? {}
  const isStrong = kty === 'RSA' ? modulusLength >= MIN_RSA_BITS : CURVES.includes(String(crv))
  if (!isStrong) throw new Error(`A key must be P-256, Ed25519, or RSA with at least ${MIN_RSA_BITS} bits.`)
  return Object.fromEntries(PUBLIC.flatMap((name) => (typeof jwk[name] === 'string' ? [[name, jwk[name]]] : [])))
}

const privateKey = () => new Error('The file contains a private key: the service needs only the public one.')

function readable<T>(read: () => T): T {
  try {
    return read()
  } catch {
    throw new Error('The file contains a key that cannot be read.')
  }
}
