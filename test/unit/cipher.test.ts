import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createCipher } from '../../server/secrets/cipher.ts'

const key = randomBytes(32)
const cipher = createCipher([key])
const place = 'App.webhookSecret:a'

describe('a sealed value', () => {
  it.each(['s', 'a secret of some length', 'Grüße\0 und 你好', 'x'.repeat(1024), ''])(
    'opens to what was sealed: %j',
    (plain) => {
      expect(cipher.decrypt(cipher.encrypt(plain, place), place)).toBe(plain)
    },
  )

  it('is another one each time, and shows nothing of what is in it', () => {
    const sealed = Array.from({ length: 100 }, () => cipher.encrypt('correct-horse', place))
    expect(new Set(sealed).size).toBe(100)
    expect(sealed.join()).not.toContain('correct-horse')
    expect(sealed.join()).not.toContain(Buffer.from('correct-horse').toString('base64url'))
  })

  it('does not open elsewhere', () => {
    expect(() => cipher.decrypt(cipher.encrypt('secret', place), 'App.webhookSecret:b')).toThrow()
  })

  it('does not open with another key', () => {
    expect(() =>
      createCipher([randomBytes(32), randomBytes(32)]).decrypt(cipher.encrypt('secret', place), place),
    ).toThrow()
  })

  it('does not open when any byte of it was changed', () => {
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

  it('does not open when it was cut', () => {
    const sealed = cipher.encrypt('secret', place)
    for (let length = 0; length < sealed.length - 1; length++) {
      expect(() => cipher.decrypt(sealed.slice(0, length), place), sealed.slice(0, length)).toThrow()
    }
  })

  it('does not open in a version that is not known', () => {
    expect(() => cipher.decrypt(cipher.encrypt('secret', place).replace('v1', 'v2'), place)).toThrow()
  })

  it('is not made with a key of another length, nor without one', () => {
    for (const keys of [[], [randomBytes(16)], [key, randomBytes(31)], [randomBytes(33), key]]) {
      expect(() => createCipher(keys)).toThrow('A key has 32 bytes.')
    }
  })
})

describe('several keys', () => {
  const [a, b, c] = [randomBytes(32), randomBytes(32), randomBytes(32)]
  const of = (...keys: Buffer[]) => createCipher(keys)

  it('all open, and the first one seals', () => {
    const [ofA, ofB] = [of(a).encrypt('secret', place), of(b, a).encrypt('secret', place)]
    for (const keys of [of(a, b), of(b, a), of(c, b, a)]) {
      expect([keys.decrypt(ofA, place), keys.decrypt(ofB, place)]).toEqual(['secret', 'secret'])
    }
    expect(of(b).decrypt(ofB, place)).toBe('secret')
    expect(() => of(a, c).decrypt(ofB, place)).toThrow('None of the configured keys decrypts this value here.')
  })

  it('are told apart', () => {
    const ofA = of(a).encrypt('', place)
    expect([of(a), of(b, a), of(c, b, a), of(b, c)].map((keys) => keys.keyIndex(ofA, place))).toEqual([0, 1, 2, null])
  })

  it('are none of what is elsewhere, changed, cut, or was never sealed', () => {
    const sealed = of(b).encrypt('secret', place)
    const wrong = [
      sealed.slice(0, -4),
      sealed.replace('v1', 'v2'),
      `${sealed.slice(0, 30)}`,
      '',
      'v1..',
      'secret',
      'v1.a',
    ]
    for (const value of wrong) expect(of(a, b).keyIndex(value, place)).toBeNull()
    expect(of(a, b).keyIndex(sealed, 'App.webhookSecret:b')).toBeNull()
    expect(of(a, b).keyIndex(sealed, place)).toBe(1)
  })
})
