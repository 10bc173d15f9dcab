import type { JWTVerifyGetKey, JWTVerifyOptions } from 'jose'
import { createRemoteJWKSet, customFetch, decodeProtectedHeader, errors as jose, jwtVerify } from 'jose'
import { boundedFetch } from './bounded-fetch.ts'

/** The keys of another issuer. */
export interface PublishedKeys {
  keys: JWTVerifyGetKey
  /** Reads the keys again if it may; false if not. Throws 503. */
  reloadKeys?: () => Promise<boolean>
}

/** Reads the keys when a token needs them, each read within `timeoutMs`. */
export function publishedAt(address: string, timeoutMs: number): PublishedKeys {
  const keys = createRemoteJWKSet(new URL(address), { timeoutDuration: timeoutMs, [customFetch]: boundedFetch })
  return { keys, reloadKeys: () => reloadAfterPause(keys) }
}

/** For a token whose key has no name: reads the keys again, as seldom as for an unknown name; false if it is too early. */
export async function reloadAfterPause(keys: ReturnType<typeof createRemoteJWKSet>): Promise<boolean> {
  if (keys.coolingDown) return false
  await keys.reload()
  return true
}

/** Asymmetric only, so that a public key can never be used as a shared secret. */
const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512', 'EdDSA', 'Ed25519']

/** Tries each key that fits: without a `kid` these may be several. Without one, a new key is known by the signature alone. */
export async function verifyByAny(token: string, { keys, reloadKeys }: PublishedKeys, given: JWTVerifyOptions) {
  const options = { ...given, algorithms: ALGORITHMS }
  const verify = () =>
    jwtVerify(token, keys, options).catch(async (error) => {
      if (!(error instanceof jose.JWKSMultipleMatchingKeys)) throw error
      let failure: unknown = error
      for await (const key of error) {
        try {
          return await jwtVerify(token, key, options)
        } catch (cause) {
          if (!isOfKey(cause)) throw cause
          failure = cause
        }
      }
      throw failure
    })
  return verify().catch(async (error) => {
    const isOfUnnamedKey = isOfKey(error) && decodeProtectedHeader(token).kid === undefined
    if (!isOfUnnamedKey || !(await reloadKeys?.())) throw error
    return verify()
  })
}

/** Whether none of the keys has signed the token. */
export const isOfKey = (error: unknown): error is Error =>
  error instanceof jose.JWSSignatureVerificationFailed ||
  error instanceof jose.JWKSNoMatchingKey ||
  error instanceof jose.JWKSMultipleMatchingKeys
