import type { IncomingMessage, ServerResponse } from 'node:http'
import { Semaphore } from 'async-mutex'
import { Brake } from './brake.ts'

/** The maximum that is read of an unwanted body, so that its sender gets to see the response. */
const MAX_BYTES = 32 * 1024 * 1024

/** The bytes that a body may take before the next one. */
const TURN_BYTES = 256 * 1024

/**
 * Limits the bodies that are drained concurrently, and the time that each takes before the next one: libuv reads up to 2 MiB from
 * each socket at a time, so that 170 refused uploads blocked everything else for 500 ms.
 */
const PRODUCTION = { turns: new Semaphore(8), turnMs: 50, maxMs: 10_000 }

/**
 * Drops the rest of a body, which nobody reads, and cuts the connection of a client that goes on sending. Resolves when the response
 * may be sent: closing the connection while the client still sends would reset it, and lose the response.
 */
export async function dropBody(request: IncomingMessage, { shouldKeepAlive }: ServerResponse, limits = PRODUCTION) {
  const drained = drain(request, limits)
  if (!shouldKeepAlive) await drained
  else void drained.then((all) => all || request.socket.destroy())
}

/** Reads and discards the rest of a body, within limits of size and time. Resolves to whether the body ended. */
async function drain(request: IncomingMessage, { turns, turnMs, maxMs }: typeof PRODUCTION): Promise<boolean> {
  const deadline = performance.now() + maxMs
  let left = MAX_BYTES
  let turnLeft = 0
  let endTurn = () => {}
  let isEnded = false
  const { socket } = request
  const end = () => {
    isEnded = true
    socket.off('close', end)
    endTurn()
  }
  const mayGoOn = () => !isEnded && left >= 0 && performance.now() < deadline
  const brake = new Brake(request)
  brake.hold()
  // Once its response is sent, a request emits no event when its connection closes.
  socket.once('close', end)
  request.once('end', end)
  request.on('data', ({ length }: Buffer) => {
    left -= length
    turnLeft -= length
    if (turnLeft <= 0) endTurn()
  })
  // A body that nobody reads when its response is sent is read by Node itself, without an end.
  request.resume()
  const takeTurn = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => endTurn(), turnMs)
      endTurn = () => {
        clearTimeout(timer)
        brake.hold()
        resolve()
      }
      turnLeft = TURN_BYTES
      brake.release()
    })
  while (mayGoOn()) await turns.runExclusive(() => (mayGoOn() ? takeTurn() : undefined))
  return isEnded
}
