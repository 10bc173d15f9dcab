import type { IncomingMessage } from 'node:http'
import { Semaphore } from 'async-mutex'

/** The maximum that is read of an unwanted body, so that its sender gets to see the response. */
const MAX_BYTES = 32 * 1024 * 1024
const MAX_MS = 10_000

/**
 * Limits the bodies that are drained concurrently, and the bytes and time that each takes before the next one: libuv reads up to
 * 2 MiB from each socket at a time, so that 170 refused uploads blocked everything else for 500 ms.
 */
const turns = new Semaphore(8)
const TURN_BYTES = 256 * 1024
const TURN_MS = 50

/** Reads and discards the rest of a body, within limits of size and time. Resolves to whether the body ended. */
export async function drain(request: IncomingMessage): Promise<boolean> {
  const deadline = performance.now() + MAX_MS
  let left = MAX_BYTES
  let turnLeft = 0
  let endTurn = () => {}
  let isEnded = false
  const end = () => {
    isEnded = true
    endTurn()
  }
  request.pause()
  request.once('close', end).once('end', end)
  request.on('data', ({ length }: Buffer) => {
    left -= length
    turnLeft -= length
    if (turnLeft <= 0) endTurn()
  })
  const takeTurn = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, TURN_MS)
      endTurn = () => {
        clearTimeout(timer)
        request.pause()
        resolve()
      }
      turnLeft = TURN_BYTES
      request.resume()
    }).finally(() => request.pause())
  while (!isEnded && left >= 0 && performance.now() < deadline) await turns.runExclusive(takeTurn)
  return isEnded
}
