import { errors } from './errors.ts'

/** For all that a request does between its token and its response. */
const LIMIT_MS = 6_000

/** How often deadlines are looked at: one timer for all requests. */
const TICK_MS = 250

interface Runner {
  deadline: Deadline
  end: () => void
}

const runners = new Set<Runner>()
let timer: NodeJS.Timeout | undefined

function tick() {
  for (const { deadline, end } of runners) if (deadline.isOver) end()
  if (runners.size > 0) return
  clearInterval(timer)
  timer = undefined
}

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
    if (this.isOver) throw errors.unavailable(new Error('the deadline of the request is over'))
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
      const runner = {
        deadline: this,
        end() {
          runners.delete(runner)
          reject(errors.unavailable(new Error('the deadline of the request is over')))
        },
      }
      runners.add(runner)
      timer ??= setInterval(tick, TICK_MS).unref()
      work.then(
        (value) => {
          runners.delete(runner)
          resolve(value)
        },
        (error) => {
          runners.delete(runner)
          reject(error)
        },
      )
    })
  }
}
