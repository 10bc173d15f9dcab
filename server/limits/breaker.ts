/**
 * How long a request waits for Redis: 36 to 45 ms. Counts event loop turns, not time, as Redis is not to blame for delays of this
 * process: a stall of any length is one turn.
 */
const TURN_MS = 8
const LATE_TURNS = 5

const PROBE_MS = 500

/** Calls `turn` once, in the next turn of the event loop. */
export type NextTurn = (turn: () => void) => void

const nextTurnOfLoop: NextTurn = (turn) => void setTimeout(turn, TURN_MS).unref()

interface Call {
  since: number
  over: () => void
}

/**
 * Avoids waiting for an unavailable store. A call that fails or takes too long opens the breaker; from then on no request calls
 * the store. A probe every 500 ms, on which no request waits, closes it again.
 */
export class Breaker {
  turns = 0
  /** How often it has opened: neither probes count nor attempts to connect again. */
  failures = 0
  #state: 'unknown' | 'well' | 'away' = 'unknown'
  #closed = false
  readonly #calls = new Set<Call>()
  readonly #probe: () => Promise<unknown>
  readonly #changed: (away: boolean, reason: Error | undefined) => void
  readonly #nextTurn: NextTurn
  #turning = false
  #probing = false
  #timer: NodeJS.Timeout | undefined

  /** `changed` is called with the initial state and on each change. */
  constructor(
    probe: () => Promise<unknown>,
    changed: (away: boolean, reason: Error | undefined) => void,
    nextTurn = nextTurnOfLoop,
  ) {
    this.#probe = probe
    this.#changed = changed
    this.#nextTurn = nextTurn
  }

  get away(): boolean {
    return this.#state !== 'well'
  }

  /**
   * Makes a call for requests that wait since the turn `since`. Resolves once it has a reply, has failed or takes too long.
   * `settle` is called once before that; for a call that takes too long, when its result is known. Null is a failure.
   */
  run<Reply>(call: () => Promise<Reply>, since: number, settle: (reply: Reply | null) => void): Promise<void> {
    return new Promise((over) => {
      const waiting = { since, over }
      this.#calls.add(waiting)
      this.#turn()
      call().then(
        (reply) => {
          settle(reply)
          if (this.#calls.delete(waiting)) over()
        },
        (error: Error) => {
          settle(null)
          this.open(error)
        },
      )
    })
  }

  /** The store is unavailable: waiting requests stop waiting. */
  open(reason: Error) {
    if (this.#closed) return
    const wasAway = this.#state === 'away'
    this.#state = 'away'
    this.#end()
    if (wasAway) return
    this.failures++
    this.#changed(true, reason)
    this.#probeLater()
  }

  async probe() {
    if (!this.away || this.#probing || this.#closed) return
    this.#probing = true
    let isBack = false
    await this.run(this.#probe, this.turns, (reply) => {
      isBack = reply !== null
    })
    this.#probing = false
    if (this.#closed) return
    if (!isBack) return this.#probeLater()
    this.#state = 'well'
    this.#changed(false, undefined)
  }

  close() {
    this.#closed = true
    this.#state = 'away'
    clearTimeout(this.#timer)
    this.#end()
  }

  #end() {
    const ended = [...this.#calls]
    this.#calls.clear()
    for (const { over } of ended) over()
  }

  #probeLater() {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.probe(), PROBE_MS).unref()
  }

  #turn() {
    if (this.#turning) return
    this.#turning = true
    this.#nextTurn(() => {
      this.#turning = false
      this.turns++
      // Replies that arrived during a stall are read first.
      if (this.#isLate()) setImmediate(() => this.#isLate() && this.open(new Error('Redis does not answer in time')))
      if (this.#calls.size > 0) this.#turn()
    })
  }

  #isLate(): boolean {
    for (const { since } of this.#calls) if (this.turns - since >= LATE_TURNS) return true
    return false
  }
}
