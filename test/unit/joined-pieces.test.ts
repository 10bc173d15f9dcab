import fc from 'fast-check'
import { expect, it } from 'vitest'
import { JoinedPieces } from '../../server/http/joined-pieces.ts'

const bytes = fc.uint8Array({ maxLength: 9_000 }).map((array) => Buffer.from(array))

it('joined pieces are all their bytes in order, and leave the pieces as they were', () => {
  fc.assert(
    fc.property(fc.array(bytes, { maxLength: 8 }), fc.boolean(), (pieces, isBounded) => {
      const all = Buffer.concat(pieces)
      const copies = pieces.map((piece) => Buffer.from(piece))
      const joined = new JoinedPieces(isBounded ? all.length : Number.POSITIVE_INFINITY)
      for (const piece of pieces) joined.add(piece)
      expect(joined.size).toBe(all.length)
      expect(joined.join().equals(all)).toBe(true)
      expect(pieces).toEqual(copies)
    }),
  )
})

it('a single piece is not copied', () => {
  const joined = new JoinedPieces(100)
  const piece = Buffer.from('whole')
  joined.add(piece)
  expect(joined.join()).toBe(piece)
})
