import type { Cipher } from './cipher.ts'

/** What a cursor belongs to: with another one of these, or changed, it is refused. */
interface Owner {
  purpose: string
  of: readonly string[]
}

const marksOf = (cipher: Cipher, { purpose, of }: Owner, position: string) =>
  cipher.marksOf(JSON.stringify([...of, position]), purpose)

/** A position as opaque text. */
export const cursorOf = (cipher: Cipher, owner: Owner, position: string) =>
  Buffer.from(`${marksOf(cipher, owner, position)[0]}.${position}`).toString('base64url')

/** The position; undefined for text that is no cursor of this owner. */
export function positionOf(cipher: Cipher, owner: Owner, cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, mark, position] = /^([0-9a-f]{32})\.(.+)$/.exec(text) ?? []
  if (mark === undefined || position === undefined) return undefined
  return marksOf(cipher, owner, position).includes(mark) ? position : undefined
}
