import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { changeCursors } from '../../routers/storage/changes.ts'
import { eventCursors } from '../../routers/webhooks/feed/fetch.ts'
import { createCipher } from '../../server/secrets/cipher.ts'

const [former, current] = [randomBytes(32), randomBytes(32)]
const cipher = createCipher([current, former])
const of = { app: 'app', club: 'club', owner: '', collection: 'c' }
const reader = { member: 'anna' }
const own = changeCursors(cipher, of, reader)
const REFUSED = 'since is not a cursor of this collection.'
const largest = Number.MAX_SAFE_INTEGER

describe('a cursor', () => {
  it.each([{ number: 0 }, { number: 1_795_608_000_000 }, { number: largest }, { number: 7, after: 'a-key_1' }])(
    'returns its position: %j',
    (position) => {
      expect(own.readPosition(own.of(position))).toEqual({ after: undefined, ...position })
    },
  )

  it('reveals neither number nor key, not even by its length or by being the same again', () => {
    const cursors = [0, 1, 1, 4711, largest].map((number) => own.of({ number }))
    expect(new Set(cursors).size).toBe(cursors.length)
    expect(new Set(cursors.map(({ length }) => length)).size).toBe(1)
    for (const one of [...cursors, own.of({ number: 4711, after: 'a-key' })]) {
      expect(one).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(Buffer.from(one, 'base64url').toString('latin1')).not.toMatch(/4711|a-key/)
    }
  })

  it('made with a former key is still valid, and one of an unknown key is not', () => {
    const by = (key: Buffer) => changeCursors(createCipher([key]), of, reader).of({ number: 1 })
    expect(own.readPosition(by(former))).toMatchObject({ number: 1 })
    expect(() => own.readPosition(by(randomBytes(32)))).toThrow(REFUSED)
  })

  it.each([
    ['app', { ...of, app: 'other' }, reader],
    ['club', { ...of, club: 'other' }, reader],
    ['owner', { ...of, owner: 'anna' }, reader],
    ['collection', { ...of, collection: 'd' }, reader],
    ['member', of, { member: 'ben' }],
    ['app itself', of, { member: null }],
  ])('of another %s is refused', (_, other, itsReader) => {
    expect(() => own.readPosition(changeCursors(cipher, other, itsReader).of({ number: 1 }))).toThrow(REFUSED)
  })

  it('of events is refused for changes, and the reverse', () => {
    const events = eventCursors(cipher, 'app')
    const position = { number: 7, horizon: 0 }
    expect(events.readPosition(events.of(position))).toEqual(position)
    expect(() => own.readPosition(events.of(position))).toThrow(REFUSED)
    expect(() => events.readPosition(own.of({ number: 7 }))).toThrow("since is not a cursor of this app's events.")
  })

  it('of events has the horizon of its beginning until it is past it', () => {
    const events = eventCursors(cipher, 'app')
    const read = (number: number, horizon: number) => events.readPosition(events.of({ number, horizon }))
    expect(read(7, 8)).toEqual({ number: 7, horizon: 8 })
    expect(read(8, 8)).toEqual({ number: 8, horizon: 0 })
  })

  it('that was altered is refused', () => {
    const bytes = Buffer.from(own.of({ number: 12, after: 'k' }), 'base64url')
    for (let i = 0; i < bytes.length; i++) {
      const altered = Buffer.from(bytes)
      altered[i]! ^= 1
      expect(() => own.readPosition(altered.toString('base64url'))).toThrow(REFUSED)
      expect(() => own.readPosition(bytes.subarray(0, i).toString('base64url'))).toThrow(REFUSED)
    }
    for (const one of ['', '-1', 'null', '%00', 'x'.repeat(10_000)])
      expect(() => own.readPosition(one)).toThrow(REFUSED)
  })
})

describe('a cursor of a release before December 2026', () => {
  const ofChanges = ['changes cursor', 'app', 'club', '', 'c']
  const made = (position: string, by = cipher, [purpose, ...names] = ofChanges) =>
    Buffer.from(`${by.computeMarks(JSON.stringify([...names, position]), purpose!)[0]}.${position}`).toString(
      'base64url',
    )

  it.each([
    ['12', { number: 12, after: undefined }],
    ['12.a-key', { number: 12, after: 'a-key' }],
  ])('returns its position: %s', (position, expected) => {
    expect(own.readPosition(made(position))).toEqual(expected)
    expect(changeCursors(cipher, of, { member: 'ben' }).readPosition(made(position))).toEqual(expected)
    expect(own.readPosition(made(position, createCipher([former])))).toEqual(expected)
  })

  it('of events returns its position', () => {
    const position = { number: 7, horizon: 0 }
    expect(eventCursors(cipher, 'app').readPosition(made('7', cipher, ['events cursor', 'app']))).toEqual(position)
  })

  it('that was altered, or is of another collection, is refused', () => {
    const text = Buffer.from(made('12.k'), 'base64url').toString('latin1')
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
      expect(() => own.readPosition(Buffer.from(one).toString('base64url')), one).toThrow(REFUSED)
    }
    expect(() => own.readPosition(made('12', cipher, ['changes cursor', 'app', 'club', '', 'd']))).toThrow(REFUSED)
    expect(() => own.readPosition(made('x'))).toThrow(REFUSED)
  })
})
