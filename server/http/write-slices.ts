import type { ServerResponse } from 'node:http'
import type { MIN_DOWNLOAD } from './transfer-rate.ts'
import { watchRate } from './transfer-rate.ts'

/** Written in slices, so that the client's pace can be measured. */
export const SLICE_BYTES = 64 * 1024

/** Bytes written before other requests are processed: the system takes some 4 MB at once, which may last 20 ms. */
const TURN_BYTES = 512 * 1024

/**
 * Writes pieces without copying them, as fast as the client reads, and cuts the connection if it reads too slowly. Resolves when
 * the client takes more, or has left.
 */
export function writeSlices(
  response: ServerResponse,
  pieces: readonly (string | Buffer)[],
  pace: typeof MIN_DOWNLOAD,
): Promise<void> {
  return new Promise((resolve) => {
    const slices = slicesOf(pieces)
    let [sent, turnEnd] = [0, TURN_BYTES]
    let stopWatching: (() => void) | undefined
    const end = () => {
      stopWatching?.()
      response.off('drain', writeOn).off('close', end)
      resolve()
    }
    const nextTurn = () => {
      turnEnd = sent + TURN_BYTES
      writeOn()
    }
    const writeOn = () => {
      while (!response.destroyed) {
        if (sent >= turnEnd) return void setImmediate(nextTurn)
        const { value: slice, done } = slices.next()
        if (done) return end()
        sent += slice.length
        if (response.write(slice)) continue
        stopWatching ??= watchRate(
          pace,
          () => sent,
          () => response.destroy(),
        )
        return
      }
      end()
    }
    response.on('drain', writeOn).on('close', end)
    writeOn()
  })
}

function* slicesOf(pieces: readonly (string | Buffer)[]) {
  for (const piece of pieces) {
    if (typeof piece === 'string') yield piece
    else for (let at = 0; at < piece.length; at += SLICE_BYTES) yield piece.subarray(at, at + SLICE_BYTES)
  }
}
