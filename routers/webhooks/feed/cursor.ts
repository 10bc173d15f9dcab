import type { Cipher } from '../../kernel/cipher.ts'
import * as cursors from '../../kernel/cursor.ts'
import { errors } from '../../kernel/errors.ts'

const ownerOf = (app: string) => ({ purpose: 'events cursor', of: [app] })

/** The number of an event as a cursor of its app. */
export const cursorOf = (cipher: Cipher, app: string, number: number) =>
  cursors.cursorOf(cipher, ownerOf(app), `${number}`)

/** Throws 400. */
export function numberOf(cipher: Cipher, app: string, cursor: string): number {
  const position = cursors.positionOf(cipher, ownerOf(app), cursor) ?? ''
  if (!/^\d+$/.test(position)) throw errors.eventCursorInvalid()
  return Number(position)
}
