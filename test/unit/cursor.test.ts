import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { cursorOf, positionOf } from '../../routers/storage/cursor.ts'
import { createCipher } from '../../server/secrets/cipher.ts'

const [former, current] = [randomBytes(32), randomBytes(32)]
const cipher = createCipher([current, former])
const of = { app: 'app', club: 'club', owner: '', collection: 'c' }

describe('a cursor', () => {
  it.each([{ number: 0 }, { number: 1_795_608_000_000 }, { number: 7, after: 'a-key_1' }])(
    'returns its position: %j',
    (position) => {
      expect(positionOf(cipher, of, cursorOf(cipher, of, position))).toEqual({ after: undefined, ...position })
    },
  )

  it('made with a former key is still valid, and one of an unknown key is not', () => {
    expect(positionOf(cipher, of, cursorOf(createCipher([former]), of, { number: 1 }))).toMatchObject({ number: 1 })
    const foreign = cursorOf(createCipher([randomBytes(32)]), of, { number: 1 })
    expect(() => positionOf(cipher, of, foreign)).toThrow('since is not a cursor of this collection.')
  })

  it.each([
    ['app', { ...of, app: 'other' }],
    ['club', { ...of, club: 'other' }],
    ['owner', { ...of, owner: 'anna' }],
    ['collection', { ...of, collection: 'd' }],
  ])('of another %s is refused', (_, other) => {
    expect(() => positionOf(cipher, of, cursorOf(cipher, other, { number: 1 }))).toThrow()
  })

  it('that was altered is refused', () => {
    const text = Buffer.from(cursorOf(cipher, of, { number: 12, after: 'k' }), 'base64url').toString('latin1')
    const altered = [
      text.replace('.12', '.13'),
      text.replace('.12', '.-12'),
      text.replace('.k', '.l'),
      text.slice(1),
      '',
      '1',
      '.1',
    ]
    for (const one of altered) {
      expect(() => positionOf(cipher, of, Buffer.from(one).toString('base64url')), one).toThrow()
    }
    for (const one of ['', '-1', 'null', '%00', 'x'.repeat(10_000)]) expect(() => positionOf(cipher, of, one)).toThrow()
  })
})
