import type { Cipher } from './cipher.ts'

/** For documents. */
export const EXAMPLE = 'BwcHBwcHBwcHBwcHvcPalTiXhJcpojQAlvBX-ji9nTbP70-AaywzdH-d7Hs'

/** What a cursor belongs to: with another one of these, or changed, it is refused. */
interface Owner {
  purpose: string
  of: readonly string[]
  /** Null where every reader of these may use it. */
  reader: string | null
}

export interface Position {
  number: number
  after?: string | undefined
}

/** As many digits as a number can have: the length of a cursor does not reveal its number. */
const DIGITS = 16

/** Positions as opaque text, and back: `undefined` for text that is no cursor of this owner. For each owner once: `of` takes 8 us. */
export function cursorsFor(cipher: Cipher, owner: Owner) {
  const sealer = cipher.sealerFor(JSON.stringify([owner.purpose, owner.reader, ...owner.of]))
  return {
    of({ number, after }: Position): string {
      const digits = String(number).padStart(DIGITS, '0')
      return sealer.seal(after === undefined ? digits : `${digits}.${after}`)
    },
    readPosition(cursor: string): Position | undefined {
      const text = sealer.open(cursor) ?? openFormerCursor(cipher, owner, cursor)
      const [, number, after] = /^(\d+)(?:\.([A-Za-z0-9_-]+))?$/.exec(text ?? '') ?? []
      return number === undefined ? undefined : { number: Number(number), after }
    },
  }
}

/**
 * Cursors of releases before December 2026 were signed and not encrypted, and belonged to every reader. Clients have stored them
 * for at most 30 days: releases after 2026-12-31 refuse them, without this function.
 */
function openFormerCursor(cipher: Cipher, { purpose, of }: Owner, cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const [, mark, position] = /^([0-9a-f]{32})\.(.+)$/.exec(text) ?? []
  if (mark === undefined || position === undefined) return undefined
  return cipher.computeMarks(JSON.stringify([...of, position]), purpose).includes(mark) ? position : undefined
}
