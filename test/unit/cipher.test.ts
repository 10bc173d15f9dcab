import { randomBytes } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Secrets } from '../../routers/webhooks/stored-secrets.ts'
import {
  columnsOfApp,
  columnsOfSubscription,
  copiedSecrets,
  formerBeside,
  noFormer,
  signingSecrets,
} from '../../routers/webhooks/stored-secrets.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { createOnceFile } from '../../server/secrets/private-file.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

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
  const marks = (keys: Buffer[], text = 'anna', purpose = 'members') => createCipher(keys).computeMarks(text, purpose)

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

it('a private file is created once, and only its owner can read it', async () => {
  const directory = await temporaryDirectory()
  const contents = await Promise.all(['a', 'b', 'c'].map((text) => createOnceFile(directory, 'key', () => text)))
  expect(new Set(contents).size).toBe(1)
  expect(await readdir(directory)).toEqual(['key'])
  expect((await stat(join(directory, 'key'))).mode & 0o777).toBe(0o600)
})

const NOW = Date.parse('2026-11-25T12:00:00Z')
const DAY_MS = 86_400_000
const columns = columnsOfApp('a')
const at = (ms = 0) => ({ cipher, now: () => NOW + ms })

const only = (secret: string): Secrets => ({ secret: cipher.encrypt(secret, columns.secret), ...noFormer })

/** The secrets of the app `a` after these were set, one after the other, each so many milliseconds after NOW. */
function after(first: string, ...changes: [secret: string, ms: number][]): Secrets {
  let stored = only(first)
  for (const [secret, ms] of changes) {
    const { formerSecret, formerUntil } = stored
    const former = formerBeside(at(ms), columns, stored.secret, secret) ?? { formerSecret, formerUntil }
    stored = { ...only(secret), ...former }
  }
  return stored
}
const signing = (stored: Secrets, ms: number) => signingSecrets(cipher, columns, stored, NOW + ms)

describe('a former secret', () => {
  it('signs beside its successor until 24 hours after the change', () => {
    const stored = after('first', ['second', 0])
    expect(signing(stored, 0)).toEqual({ secret: 'second', former: 'first' })
    expect(signing(stored, DAY_MS - 1)).toEqual({ secret: 'second', former: 'first' })
    expect(signing(stored, DAY_MS)).toEqual({ secret: 'second', former: null })
  })

  it('keeps its end when the same secret is set again', () => {
    const stored = after('first', ['second', 0], ['second', DAY_MS / 2])
    expect(signing(stored, DAY_MS - 1)).toEqual({ secret: 'second', former: 'first' })
    expect(signing(stored, DAY_MS)).toEqual({ secret: 'second', former: null })
  })

  it('ends with the next change, whose former one has 24 hours of its own', () => {
    const stored = after('first', ['second', 0], ['third', 1_000])
    expect(signing(stored, 1_000)).toEqual({ secret: 'third', former: 'second' })
    expect(signing(stored, DAY_MS + 999)).toEqual({ secret: 'third', former: 'second' })
    expect(signing(stored, DAY_MS + 1_000)).toEqual({ secret: 'third', former: null })
  })

  it('becomes the secret again when it is set again', () => {
    expect(signing(after('first', ['second', 0], ['first', 1_000]), 1_000)).toEqual({
      secret: 'first',
      former: 'second',
    })
  })

  it('does not sign without a secret', () => {
    expect(signing({ ...after('first', ['second', 0]), secret: null }, 0)).toEqual({ secret: null, former: null })
  })

  it('does not come of a secret that no key decrypts', () => {
    expect(formerBeside(at(), columns, 'v1.AAAA.AAAA', 'second')).toEqual(noFormer)
    expect(formerBeside(at(), columns, null, 'second')).toEqual(noFormer)
  })

  it('is bound to its column and row', () => {
    const { formerSecret, ...rest } = after('first', ['second', 0])
    expect(() => signing({ ...rest, formerSecret: rest.secret }, 0)).toThrow()
    expect(() => cipher.decrypt(formerSecret!, columnsOfApp('b').formerSecret)).toThrow()
  })
})

describe('copied secrets', () => {
  const copiedAt = (stored: Secrets, ms: number) => copiedSecrets(at(ms), 'a', stored, 's')
  const signingCopy = (copy: Secrets, ms: number) => signingSecrets(cipher, columnsOfSubscription('s'), copy, NOW + ms)

  it('are both with the same end', () => {
    const copy = copiedAt(after('first', ['second', 0]), DAY_MS - 2)
    expect(signingCopy(copy, DAY_MS - 1)).toEqual({ secret: 'second', former: 'first' })
    expect(signingCopy(copy, DAY_MS)).toEqual({ secret: 'second', former: null })
  })

  it('are the secret alone after that, and none without a secret', () => {
    const stored = after('first', ['second', 0])
    expect(copiedAt(stored, DAY_MS)).toEqual({ secret: expect.any(String), ...noFormer })
    expect(copiedAt({ ...stored, secret: null }, 0)).toEqual({ secret: null, ...noFormer })
  })
})
