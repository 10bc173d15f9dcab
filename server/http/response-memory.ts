import type { ServerResponse } from 'node:http'
import { Mutex, Semaphore, withTimeout } from 'async-mutex'
import { errors } from '../../routers/errors.ts'

/** MiB of large answers that wait for their clients. In MiB, as the semaphore goes through its room unit by unit. */
const ROOM = 96

/** How long an answer waits for room before it is a 503. */
const WAIT_MS = 30_000

/** A client that takes nothing for so long is cut off, as it holds room that others wait for. */
const STALLED_MS = 20_000

/** The memory that one answer takes. */
export interface Share {
  /** Waits until there is room for an answer of so many bytes. */
  reserve: (bytes: number) => Promise<void>
  /** The answer is put together; what it still takes is given back when it is sent, or its client has left. */
  assembled: () => void
}

export type Room = (response: ServerResponse) => Share

/**
 * Bounds the memory that large answers take: first come, first served. They are put together one by one, as an answer takes
 * up to six times its size meanwhile: as rows, as texts of two bytes a character, and as the bytes that are sent.
 */
export function createRoom(): Room {
  const room = withTimeout(new Semaphore(ROOM), WAIT_MS, errors.unavailable())
  const assembly = withTimeout(new Mutex(), WAIT_MS, errors.unavailable())

  return (response) => {
    // One listener, however many values the answer has: Node warns of more than ten.
    const held: (() => void)[] = []
    const free = () => {
      for (const release of held.splice(0)) release()
    }
    const whenClosed = (release: () => void) => {
      if (response.destroyed) return release()
      if (held.push(release) === 1) response.once('close', free)
    }
    // One for all parts of an answer: the calls of a batch do not wait for one another.
    let turn: Promise<() => void> | undefined
    const assembled = () => {
      // Who waited in vain has been told so.
      turn?.then(
        (release) => release(),
        () => {},
      )
    }
    const itsTurn = async () => {
      const release = await assembly.acquire()
      whenClosed(assembled)
      response.setTimeout(STALLED_MS)
      return release
    }
    return {
      async reserve(bytes) {
        const [, sent] = await room.acquire(Math.min(Math.ceil(bytes / 1024 ** 2), ROOM))
        whenClosed(sent)
        turn ??= itsTurn()
        await turn
      },
      assembled,
    }
  }
}
