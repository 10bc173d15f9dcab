import type { ServerResponse } from 'node:http'
import type { Rate } from './transfer-rate.ts'
import { watchRate } from './transfer-rate.ts'
import { countWritten, turnFor } from './turns.ts'

/** Written in slices, so that the client's pace can be measured. */
export const SLICE_BYTES = 64 * 1024

/**
 * Writes pieces without copying them, as fast as the client reads, and cuts the connection if it reads too slowly. Resolves when
 * the client takes more, or has left.
 */
export async function writeSlices(
  response: ServerResponse,
  pieces: readonly (string | Buffer)[],
  pace: Rate,
): Promise<void> {
  let sent = 0
  let stopWatching: (() => void) | undefined
  const drain = () => {
    stopWatching ??= watchRate(
      pace,
      () => sent,
      () => response.destroy(),
    )
    return drained(response)
  }
  for (const slice of cutSlices(pieces)) {
    // Pending bytes go out in one system call with those that follow.
    if (response.writableLength > 0) countWritten(slice.length)
    else await turnFor(slice.length)
    if (response.destroyed) break
    response.write(slice)
    sent += slice.length
    if (response.writableLength >= SLICE_BYTES) await drain()
  }
  // Its last slice would hold the whole of a large piece.
  if (sent > SLICE_BYTES && response.writableNeedDrain && !response.destroyed) await drain()
  stopWatching?.()
}

/** Resolves when the client takes more, or has left. */
const drained = (response: ServerResponse) =>
  new Promise<void>((resolve) => {
    const end = () => {
      response.off('drain', end).off('close', end)
      resolve()
    }
    response.on('drain', end).on('close', end)
  })

function* cutSlices(pieces: readonly (string | Buffer)[]) {
  for (const piece of pieces) {
    if (piece.length <= SLICE_BYTES || typeof piece === 'string') yield piece
    else for (let at = 0; at < piece.length; at += SLICE_BYTES) yield piece.subarray(at, at + SLICE_BYTES)
  }
}
