import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Encrypts what has to be read again later. `place` names where the value is kept: copied elsewhere it does not open. */
export interface Sealer {
  seal: (plain: string, place: string) => string
  /** Throws when the value was changed, moved, or sealed with another key. */
  open: (sealed: string, place: string) => string
}

/** AES-256-GCM with a key of 32 bytes. */
export function createSealer(key: Buffer): Sealer {
  return {
    seal(plain, place) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(place))
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v1.${nonce.toString('base64url')}.${text.toString('base64url')}`
    },
    open(sealed, place) {
      const [version, nonce, text] = sealed.split('.')
      if (version !== 'v1' || nonce === undefined || text === undefined) throw new Error('This is no sealed value.')
      const bytes = Buffer.from(text, 'base64url')
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(-16))
      return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString('utf8')
    },
  }
}
