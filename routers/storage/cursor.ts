import type { Cipher } from '../kernel/cipher.ts'
import { errors } from '../kernel/errors.ts'
import type { Position } from './changes.ts'
import type { Collection } from './statements.ts'

const marksOf = (cipher: Cipher, { app, club, owner, collection }: Collection, position: string) =>
  cipher.marksOf(JSON.stringify([app, club, owner, collection, position]), 'changes cursor')

/** A position as text that belongs to its collection: with another one, or changed, it is refused. */
export function cursorOf(cipher: Cipher, collection: Collection, { number, after }: Position): string {
  const position = after === undefined ? `${number}` : `${number}.${after}`
  return Buffer.from(`${marksOf(cipher, collection, position)[0]}.${position}`).toString('base64url')
}

/** Throws 400. */
export function positionOf(cipher: Cipher, collection: Collection, cursor: string): Position {
  const [, mark, position = '', number, after] =
    /^([0-9a-f]{32})\.((\d+)(?:\.([A-Za-z0-9_-]+))?)$/.exec(Buffer.from(cursor, 'base64url').toString('latin1')) ?? []
  if (mark === undefined || !marksOf(cipher, collection, position).includes(mark)) throw errors.cursorInvalid()
  return { number: Number(number), after }
}
