import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createCipher } from '../../server/secrets/cipher.ts'

const key = randomBytes(32)
const cipher = createCipher([key])
const place = 'App.webhookSecret:a'

describe('an encrypted value', () => {
  it.each(['s', 'a secret of some length', 'Grüße\0 und 你好', 'x'.repeat(1024), ''])(
    'decrypts to the plaintext: %j',
    (plain) => {
      expect(cipher.decrypt(cipher.encrypt(plain, place), place)).toBe(plain)
    },
  )

  it('differs each time and contains no plaintext', () => {
    const encrypted = Array.from({ length: 100 }, () => cipher.encrypt('correct-horse', place))
    expect(new Set(encrypted).size).toBe(100)
    expect(encrypted.join()).not.toContain('correct-horse')
    expect(encrypted.join()).not.toContain(Buffer.from('correct-horse').toString('base64url'))
  })

  it('cannot be decrypted with other associated data', () => {
    expect(() => cipher.decrypt(cipher.encrypt('secret', place), 'App.webhookSecret:b')).toThrow()
  })

  it('cannot be decrypted with another key', () => {
    expect(() =>
      createCipher([randomBytes(32), randomBytes(32)]).decrypt(cipher.encrypt('secret', place), place),
    ).toThrow()
  })

  it('cannot be decrypted when any byte has changed', () => {
    const [version, nonce, text] = cipher.encrypt('secret', place).split('.') as [string, string, string]
    const flipped = (part: string, index: number) => {
      const bytes = Buffer.from(part, 'base64url')
      bytes[index]! ^= 1
      return bytes.toString('base64url')
    }
    for (let index = 0; index < 12; index++) {
      expect(() => cipher.decrypt(`${version}.${flipped(nonce, index)}.${text}`, place)).toThrow()
    }
    for (let index = 0; index < Buffer.from(text, 'base64url').length; index++) {
      expect(() => cipher.decrypt(`${version}.${nonce}.${flipped(text, index)}`, place)).toThrow()
    }
  })

  it('cannot be decrypted when it is truncated', () => {
    const encrypted = cipher.encrypt('secret', place)
    for (let length = 0; length < encrypted.length - 1; length++) {
      expect(() => cipher.decrypt(encrypted.slice(0, length), place), encrypted.slice(0, length)).toThrow()
    }
  })

  it('cannot be decrypted when its version is unknown', () => {
    expect(() => cipher.decrypt(cipher.encrypt('secret', place).replace('v1', 'v2'), place)).toThrow()
  })

  it('needs at least one key, of 32 bytes', () => {
    for (const keys of [[], [randomBytes(16)], [key, randomBytes(31)], [randomBytes(33), key]]) {
      expect(() => createCipher(keys)).toThrow('A key must have 32 bytes.')
    }
  })
})

describe('several keys', () => {
  const [a, b, c] = [randomBytes(32), randomBytes(32), randomBytes(32)]
  const of = (...keys: Buffer[]) => createCipher(keys)

  it('all decrypt, and the first one encrypts', () => {
    const [ofA, ofB] = [of(a).encrypt('secret', place), of(b, a).encrypt('secret', place)]
    for (const keys of [of(a, b), of(b, a), of(c, b, a)]) {
      expect([keys.decrypt(ofA, place), keys.decrypt(ofB, place)]).toEqual(['secret', 'secret'])
    }
    expect(of(b).decrypt(ofB, place)).toBe('secret')
    expect(() => of(a, c).decrypt(ofB, place)).toThrow(
      'None of the configured keys decrypts this value with this associated data.',
    )
  })

  it('are identified by their index', () => {
    const ofA = of(a).encrypt('', place)
    expect([of(a), of(b, a), of(c, b, a), of(b, c)].map((keys) => keys.keyIndex(ofA, place))).toEqual([0, 1, 2, null])
  })

  it('have no index for a value that is copied elsewhere, changed, truncated or plain', () => {
    const encrypted = of(b).encrypt('secret', place)
    const wrong = [
      encrypted.slice(0, -4),
      encrypted.replace('v1', 'v2'),
      `${encrypted.slice(0, 30)}`,
      '',
      'v1..',
      'secret',
      'v1.a',
    ]
    for (const value of wrong) expect(of(a, b).keyIndex(value, place)).toBeNull()
    expect(of(a, b).keyIndex(encrypted, 'App.webhookSecret:b')).toBeNull()
    expect(of(a, b).keyIndex(encrypted, place)).toBe(1)
  })
})

describe('a sealer', () => {
  const sealer = (keys: Buffer[], owner = 'anna') => createCipher(keys).sealerFor(owner)

  it.each(['', 's', 'Grüße\0 und 你好', 'x'.repeat(1024)])('opens the text that its owner has sealed: %j', (text) => {
    expect(sealer([key]).open(sealer([key]).seal(text))).toBe(text)
  })

  it('opens nothing of another owner or key, or that was changed or cut', () => {
    const sealed = sealer([key]).seal('text')
    const other = randomBytes(32)
    expect([sealer([key], 'ben'), sealer([other])].map(({ open }) => open(sealed))).toEqual([undefined, undefined])
    const bytes = Buffer.from(sealed, 'base64url')
    for (let i = 0; i < bytes.length; i++) {
      const changed = Buffer.from(bytes)
      changed[i]! ^= 1
      expect(sealer([key]).open(changed.toString('base64url'))).toBeUndefined()
      expect(sealer([key]).open(bytes.subarray(0, i).toString('base64url'))).toBeUndefined()
    }
  })

  it('opens texts of all keys, and seals with the first', () => {
    const other = randomBytes(32)
    expect(sealer([other, key]).open(sealer([key]).seal('text'))).toBe('text')
    expect(sealer([other]).open(sealer([other, key]).seal('text'))).toBe('text')
  })

  it('repeats no nonce', () => {
    const { seal } = sealer([key])
    const nonces = Array.from({ length: 1_000 }, () => seal('').slice(0, 16))
    expect(new Set(nonces).size).toBe(nonces.length)
  })
})

describe('the mark of a text', () => {
  const marks = (keys: Buffer[], text = 'anna', purpose = 'members') => createCipher(keys).marksOf(text, purpose)

  it('is the same each time, one of each key in their order', () => {
    const other = randomBytes(32)
    const [first, second] = [marks([key])[0]!, marks([other])[0]!]
    expect(first).toMatch(/^[0-9a-f]{32}$/)
    expect([marks([key]), marks([key, other]), marks([other, key])]).toEqual([
      [first],
      [first, second],
      [second, first],
    ])
  })

  it('differs by text, purpose and key', () => {
    const all = [marks([key]), marks([key], 'ben'), marks([key], 'anna', 'others'), marks([randomBytes(32)])].flat()
    expect(new Set(all).size).toBe(4)
  })
})
