import { setImmediate } from 'node:timers/promises'

/** Streams that beat in a turn of the event loop: a write takes 40 us. */
const TURN_STREAMS = 50

/**
 * Calls a function of each open stream once a period. With a timer for each, 500 streams would wake the process 33 times a
 * second.
 */
export class Heartbeat {
  readonly #everyMs: number
  readonly #beats = new Set<() => void>()
  #timer: NodeJS.Timeout | undefined

  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  /** Until the returned function is called. The first beat comes within a period. */
  add(beat: () => void): () => void {
    this.#beats.add(beat)
    this.#timer ??= setInterval(() => this.#beatAll(), this.#everyMs)
    return () => {
      this.#beats.delete(beat)
      if (this.#beats.size > 0) return
      clearInterval(this.#timer)
      this.#timer = undefined
    }
  }

  async #beatAll() {
    let beaten = 0
    for (const beat of this.#beats) {
      beat()
      if (++beaten % TURN_STREAMS === 0) await setImmediate()
    }
  }
}
