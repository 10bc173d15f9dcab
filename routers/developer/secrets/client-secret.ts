import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** 256 random bits, in characters that need no encoding in a header or a form. */
export const newClientSecret = () => randomBytes(32).toString('base64url')

/** The stored form of a secret. SHA-256 of 256 random bits cannot be guessed, so it needs neither salt nor a slow hash. */
export const hashOfSecret = (secret: string) => createHash('sha256').update(secret).digest('base64url')

/** Compares in constant time. */
export const matchesSecret = (hash: string, secret: string) => {
  const [expected, actual] = [hash, hashOfSecret(secret)].map((text) => Buffer.from(text))
  return expected!.length === actual!.length && timingSafeEqual(expected!, actual!)
}
