import type { Cipher } from '../../kernel/cipher.ts'
import { cursorsFor } from '../../kernel/cursor.ts'
import { errors } from '../../kernel/errors.ts'

/** The numbers of an app's events as its cursors. */
export function eventCursors(cipher: Cipher, app: string) {
  const cursors = cursorsFor(cipher, { purpose: 'events cursor', of: [app], reader: null })
  return {
    of: (number: number) => cursors.of({ number }),
    /** Throws 400. */
    readNumber(cursor: string): number {
      const position = cursors.readPosition(cursor)
      if (!position) throw errors.eventCursorInvalid()
      return position.number
    },
  }
}
