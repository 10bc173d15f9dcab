import type { JsonWebKey, KeyObject } from 'node:crypto'
import { createPublicKey } from 'node:crypto'
import { keyReasons } from './validation.ts'

const CURVES = ['P-256', 'Ed25519']
/** A larger key takes much longer to verify with. */
const [MIN_RSA_BITS, MAX_RSA_BITS] = [2048, 4096]

export interface KeySet {
  keys: Record<string, string>[]
}

/** Carries a sentence. */
export class KeyRefused extends Error {
  readonly reason: keyof typeof keyReasons

  constructor(reason: keyof typeof keyReasons) {
    super(keyReasons[reason])
    this.reason = reason
  }
}

/**
 * Accepts a JWK set, a single JWK, or a public key in PEM, and drops members that are not needed. Throws KeyRefused for anything
 * but public keys of P-256, Ed25519 or RSA.
 */
export function publicKeySet(text: string): KeySet {
  const keys = text.trimStart().startsWith('{') ? parseJson(text) : [parsePem(text)]
  if (keys.length === 0) throw new KeyRefused('missing')
  return { keys: keys.map(publicJwk) }
}

function parseJson(text: string): JsonWebKey[] {
  const value = parsed(text)
  const keys: unknown = Object.hasOwn(value, 'keys') ? value.keys : [value]
  if (!Array.isArray(keys)) throw new KeyRefused('notList')
  return keys
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    throw new KeyRefused('format')
  }
}

function parsePem(text: string): JsonWebKey {
  if (text.includes('PRIVATE KEY')) throw new KeyRefused('private')
  return readable(() => createPublicKey(text).export({ format: 'jwk' }))
}

function publicJwk(jwk: JsonWebKey): Record<string, string> {
  if (['d', 'k', 'p', 'q'].some((name) => Object.hasOwn(Object(jwk), name))) throw new KeyRefused('private')
  const key = readable(() => createPublicKey({ key: jwk, format: 'jwk' }))
  if (!isStrong(key, jwk)) throw new KeyRefused('weak')
  const { kid } = jwk
  if (kid !== undefined && !(typeof kid === 'string' && /^[\x21-\x7e]{1,255}$/.test(kid))) throw new KeyRefused('kid')
  return {
    ...(key.export({ format: 'jwk' }) as Record<string, string>),
    ...(kid !== undefined && { kid: String(kid) }),
  }
}

function isStrong({ asymmetricKeyDetails }: KeyObject, { kty, crv }: JsonWebKey) {
  if (kty !== 'RSA') return CURVES.includes(String(crv))
  const { modulusLength = 0 } = asymmetricKeyDetails ?? {}
  return modulusLength >= MIN_RSA_BITS && modulusLength <= MAX_RSA_BITS
}

function readable<T>(read: () => T): T {
  try {
    return read()
  } catch {
    throw new KeyRefused('unreadable')
  }
}
