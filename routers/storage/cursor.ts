import type { Cipher } from '../kernel/cipher.ts'
import * as cursors from '../kernel/cursor.ts'
import { errors } from '../kernel/errors.ts'
import type { Position } from './changes.ts'
import type { Collection } from './statements.ts'

const ownerOf = ({ app, club, owner, collection }: Collection) => ({
  purpose: 'changes cursor',
  of: [app, club, owner, collection],
})

export const cursorOf = (cipher: Cipher, collection: Collection, { number, after }: Position) =>
  cursors.cursorOf(cipher, ownerOf(collection), after === undefined ? `${number}` : `${number}.${after}`)

/** Throws 400. */
export function positionOf(cipher: Cipher, collection: Collection, cursor: string): Position {
  const position = cursors.positionOf(cipher, ownerOf(collection), cursor)
  const [, number, after] = /^(\d+)(?:\.([A-Za-z0-9_-]+))?$/.exec(position ?? '') ?? []
  if (number === undefined) throw errors.cursorInvalid()
  return { number: Number(number), after }
}
