import { randomBytes } from 'node:crypto'
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

const NOW = Date.parse('2026-11-25T12:00:00Z')
const DAY_MS = 86_400_000
const cipher = createCipher([randomBytes(32)])
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
