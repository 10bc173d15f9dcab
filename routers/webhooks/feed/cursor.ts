import type { Cipher } from '../../kernel/cipher.ts'
import { errors } from '../../kernel/errors.ts'

const marksOf = (cipher: Cipher, app: string, number: string) =>
  cipher.marksOf(JSON.stringify([app, number]), 'events cursor')

/** The number of an event as text that belongs to its app: with another one, or changed, it is refused. */
export const cursorOf = (cipher: Cipher, app: string, number: number) =>
  Buffer.from(`${marksOf(cipher, app, `${number}`)[0]}.${number}`).toString('base64url')

/** Throws 400. */
export function numberOf(cipher: Cipher, app: string, cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, mark, number = ''] = /^([0-9a-f]{32})\.(\d+)$/.exec(text) ?? []
  if (mark === undefined || !marksOf(cipher, app, number).includes(mark)) throw errors.eventCursorInvalid()
  return Number(number)
}
