import { errors } from './errors.ts'

/** For all that a request does between its token and its response. */
const LIMIT_MS = 6_000

/** How often deadlines are looked at: one timer for all requests. */
const TICK_MS = 250

/** Work that its deadline may end. */
class Bounded {
  readonly deadline: Deadline
  #reject: ((error: unknown) => void) | undefined

  constructor(deadline: Deadline, reject: (error: unknown) => void) {
    this.deadline = deadline
    this.#reject = reject
    running.add(this)
    timer ??= setInterval(tick, TICK_MS).unref()
  }

  /**
   * Forgets the promise, and with it the result: this may be in the old generation, where it would keep the rows of a LIST
   * alive until the next full collection (60 us of 350; npm run bench).
   */
  done() {
    running.delete(this)
    this.#reject = undefined
  }

  end() {
    const reject = this.#reject
    this.done()
    reject?.(overdue())
  }
}

const running = new Set<Bounded>()
let timer: NodeJS.Timeout | undefined

function tick() {
  for (const work of running) if (work.deadline.isOver) work.end()
  if (running.size > 0) return
  clearInterval(timer)
  timer = undefined
}

const overdue = () => errors.unavailable(new Error('the deadline of the request is over'))

/** The one deadline of a request. What its client takes for the body, and the wait for memory, do not count. */
export class Deadline {
  #at: number
  #pauses = 0
  #pausedAt = 0

  constructor(limitMs = LIMIT_MS) {
    this.#at = performance.now() + limitMs
  }

  get isOver() {
    return this.#pauses === 0 && performance.now() >= this.#at
  }

  /** Throws 503 when it is over. */
  check() {
    if (this.isOver) throw overdue()
  }

  /** Runs what does not count; throws 503 when it is over already. */
  async without<T>(work: () => Promise<T>): Promise<T> {
    this.check()
    if (this.#pauses++ === 0) this.#pausedAt = performance.now()
    try {
      return await work()
    } finally {
      if (--this.#pauses === 0) this.#at += performance.now() - this.#pausedAt
    }
  }

  /** As `work`, but rejects with 503 when it is over; what still runs then cannot reach the database (bounded-core.ts). */
  bound<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const bounded = new Bounded(this, reject)
      const settle =
        <V>(settled: (value: V) => void) =>
        (value: V) => {
          bounded.done()
          settled(value)
        }
      work.then(settle(resolve), settle(reject))
    })
  }
}
