import type { Cipher } from '../kernel/cipher.ts'
import { cursorsFor } from '../kernel/cursor.ts'
import { errors } from '../kernel/errors.ts'
import type { Position } from './changes.ts'
import type { Collection } from './statements.ts'

/** A member's cursors of a collection; `member` is null for the app itself. */
export function changeCursors(
  cipher: Cipher,
  { app, club, owner, collection }: Collection,
  { member }: { member: string | null },
) {
  const cursors = cursorsFor(cipher, { purpose: 'changes cursor', of: [app, club, owner, collection], reader: member })
  return {
    of: cursors.of,
    /** Throws 400. */
    readPosition(cursor: string): Position {
      const position = cursors.readPosition(cursor)
      if (!position) throw errors.cursorInvalid()
      return position
    },
  }
}
