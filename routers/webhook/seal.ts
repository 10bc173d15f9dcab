import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** Encrypts what has to be read again later. `place` names where the value is kept: copied elsewhere it does not open. */
export interface Sealer {
  seal: (plain: string, place: string) => string
  /** Throws when the value was changed, moved, or sealed with a key that is none of ours. */
  open: (sealed: string, place: string) => string
  /** Which of our keys opens the value, counted from 0, which is the one that seals; null: none. */
  keyOf: (sealed: string, place: string) => number | null
}

/** The places of all that is kept sealed. */
export const places = {
  template: (app: string) => `App.webhookSecret:${app}`,
  subscription: (subscription: string) => `Subscription.secret:${subscription}`,
  signingKey: (kid: string) => `SigningKey ${kid}`,
  check: () => 'SecretsKeyCheck',
}

const KEY_BYTES = 32

/** AES-256-GCM with keys of 32 bytes: the first one seals, all of them open. */
export function createSealer(keys: readonly Buffer[]): Sealer {
  const [first] = keys
  if (!first || !keys.every(({ length }) => length === KEY_BYTES)) throw new Error('A key has 32 bytes.')
  const opened = (sealed: string, place: string) => {
    const parts = partsOf(sealed)
    for (const [number, key] of keys.entries()) {
      const plain = parts && openWith(key, parts, place)
      if (plain !== undefined) return { number, plain }
    }
    return undefined
  }
  return {
    seal(plain, place) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', first, nonce).setAAD(Buffer.from(place))
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `v1.${nonce.toString('base64url')}.${text.toString('base64url')}`
    },
    open(sealed, place) {
      const found = opened(sealed, place)
      if (!found) throw new Error('This value was not sealed by us, for this place, with one of our keys.')
      return found.plain
    },
    keyOf: (sealed, place) => opened(sealed, place)?.number ?? null,
  }
}

interface Parts {
  nonce: Buffer
  text: Buffer
}

function partsOf(sealed: string): Parts | undefined {
  const [version, nonce, text] = sealed.split('.')
  if (version !== 'v1' || nonce === undefined || text === undefined) return undefined
  return { nonce: Buffer.from(nonce, 'base64url'), text: Buffer.from(text, 'base64url') }
}

/** Undefined: the tag does not fit, or the parts have not even their lengths. */
function openWith(key: Buffer, { nonce, text }: Parts, place: string): string | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 })
    decipher.setAAD(Buffer.from(place)).setAuthTag(text.subarray(-16))
    return Buffer.concat([decipher.update(text.subarray(0, -16)), decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}
