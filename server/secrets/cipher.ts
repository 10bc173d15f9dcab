import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import type { Cipher, Sealer } from '../../routers/kernel/cipher.ts'

const KEY_BYTES = 32
const NONCE_BYTES = 12
const NONCES = 256

/**
 * AES-256-GCM with 32-byte keys: the first encrypts, all of them decrypt. Throws when there is no key, or one of another length.
 */
export function createCipher(keys: readonly Buffer[]): Cipher {
  const [first] = keys
  if (!first || !keys.every(({ length }) => length === KEY_BYTES)) throw new Error('A key must have 32 bytes.')
  const find = (ciphertext: string, associatedData: string) => {
    const message = parse(ciphertext)
    for (const [index, key] of keys.entries()) {
      const plaintext = message && decryptWith(key, message, associatedData)
      if (plaintext !== undefined) return { index, plaintext }
    }
    return undefined
  }
  return {
    encrypt(plaintext, associatedData) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', first, nonce).setAAD(Buffer.from(associatedData))
      const body = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v1.${nonce.toString('base64url')}.${body.toString('base64url')}`
    },
    decrypt(ciphertext, associatedData) {
      const found = find(ciphertext, associatedData)
      if (!found) throw new Error('None of the configured keys decrypts this value with this associated data.')
      return found.plaintext
    },
    keyIndex: (ciphertext, associatedData) => find(ciphertext, associatedData)?.index ?? null,
    computeMarks: (text, purpose) => keys.map((key) => markWith(key, text, purpose)),
    sealerFor: (owner) => createSealer(keys.map((key) => createHmac('sha256', key).update(`seal ${owner}`).digest())),
  }
}

/** Random nonces are unique for some 2^32 texts of one key: hence one for each owner. */
function createSealer(keys: readonly Buffer[]): Sealer {
  return {
    seal(text) {
      const nonce = nextNonce()
      const cipher = createCipheriv('aes-256-gcm', keys[0]!, nonce)
      return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString(
        'base64url',
      )
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url')
      const message = { nonce: bytes.subarray(0, NONCE_BYTES), body: bytes.subarray(NONCE_BYTES) }
      for (const key of keys) {
        const text = decryptWith(key, message, '')
        if (text !== undefined) return text
      }
      return undefined
    },
  }
}

let nonces = Buffer.alloc(0)

/** Nonces are drawn many at once: one by one they take 4 us of the 12 us of a sealed text. */
function nextNonce(): Buffer {
  if (nonces.length === 0) nonces = randomBytes(NONCE_BYTES * NONCES)
  const nonce = nonces.subarray(0, NONCE_BYTES)
  nonces = nonces.subarray(NONCE_BYTES)
  return nonce
}

/** 128 bits. The purpose makes a key of its own, so that hashes for different ones do not match. */
const markWith = (key: Buffer, text: string, purpose: string) =>
  createHmac('sha256', createHmac('sha256', key).update(`mark ${purpose}`).digest())
    .update(text)
    .digest('hex')
    .slice(0, 32)

interface Message {
  nonce: Buffer
  /** Ciphertext and tag. */
  body: Buffer
}

function parse(text: string): Message | undefined {
  const [version, nonce, body] = text.split('.')
  if (version !== 'v1' || nonce === undefined || body === undefined) return undefined
  return { nonce: Buffer.from(nonce, 'base64url'), body: Buffer.from(body, 'base64url') }
}

/** Undefined when the tag does not match, or a part is too short. */
function decryptWith(key: Buffer, { nonce, body }: Message, associatedData: string): string | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 })
    decipher.setAAD(Buffer.from(associatedData)).setAuthTag(body.subarray(-16))
    return Buffer.concat([decipher.update(body.subarray(0, -16)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
