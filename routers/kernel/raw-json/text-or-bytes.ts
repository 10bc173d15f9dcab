import { setImmediate } from 'node:timers/promises'
import type { JsonText } from './text.ts'

/** How many characters are measured or written before other requests get their turn: 1 ms. */
const TURN_CHARACTERS = 1024 * 1024

/** Joins pieces. More than `maxText` characters are bytes, as a string takes up to three times their memory. */
export function textOrBytes(pieces: readonly JsonText[], maxText: number): JsonText | Promise<JsonText> {
  let length = 0
  for (const piece of pieces) length += piece.length
  return length <= maxText ? pieces.join('') : toBytes(pieces)
}

/** Waits twice: the first immediate still runs in the turn in which the rows were read. */
async function toBytes(pieces: readonly JsonText[]): Promise<Buffer> {
  await setImmediate()
  await setImmediate()
  let size = 0
  await inTurns(pieces, (piece) => (size += Buffer.byteLength(piece)))
  // Written piece by piece: joined first, they would be copied twice.
  const bytes = Buffer.allocUnsafeSlow(size)
  let at = 0
  await inTurns(pieces, (piece) => (at += typeof piece === 'string' ? bytes.write(piece, at) : piece.copy(bytes, at)))
  return bytes
}

/** A batch may have ten pieces of 5 MB, which take 50 ms. */
async function inTurns(pieces: readonly JsonText[], work: (piece: JsonText) => void) {
  let done = 0
  for (const piece of pieces) {
    work(piece)
    done += piece.length
    if (done < TURN_CHARACTERS) continue
    done = 0
    await setImmediate()
  }
}
