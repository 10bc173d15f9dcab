import { InFlight } from '../../prisma/in-flight.ts'
import { errors } from './errors.ts'

/** The interval at which deadlines are checked: one timer for all requests. */
const TICK_MS = 250

interface Bounded {
  deadline: Deadline
  end: () => void
}

const running = new InFlight<Bounded>()
let timer: NodeJS.Timeout | undefined

function tick() {
  for (const { deadline, end } of running.items()) if (deadline.isOver) end()
  if (running.size > 0) return
  clearInterval(timer)
  timer = undefined
}

class Overdue extends Error {}
const overdue = () => errors.unavailable(new Overdue('the deadline of the request is over'))

export const isOverdue = (cause: unknown) => cause instanceof Overdue

/** A request's deadline. The time that its client takes to send the body, and waiting for memory, do not count. */
export class Deadline {
  readonly #limitMs: number
  #at: number
  #pauses = 0
  #pausedAt = 0

  /** `limitMs` is the `requestMs` of the time limits. */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
    this.#at = performance.now() + limitMs
  }

  get isOver() {
    return this.#pauses === 0 && performance.now() >= this.#at
  }

  /** Throws 503 after the deadline. */
  check() {
    if (this.isOver) throw overdue()
  }

  /** Runs work whose time does not count; throws 503 after the deadline. */
  async without<T>(work: () => Promise<T>): Promise<T> {
    this.check()
    if (this.#pauses++ === 0) this.#pausedAt = performance.now()
    try {
      return await work()
    } finally {
      if (--this.#pauses === 0) this.#at += performance.now() - this.#pausedAt
    }
  }

  /** For a call that has waited: what it reads now has the whole time. */
  restart() {
    this.#at = performance.now() + this.#limitMs
  }

  /** For a stream, which has none once it has begun. */
  lift() {
    this.#at = Number.POSITIVE_INFINITY
  }

  /** Rejects with 503 at the deadline; work that continues cannot reach the database (call-core.ts). */
  bound<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const refuse = (error: unknown) => {
        done()
        reject(error)
      }
      const done = running.add({ deadline: this, end: () => refuse(overdue()) })
      timer ??= setInterval(tick, TICK_MS).unref()
      work.then((result) => {
        done()
        resolve(result)
      }, refuse)
    })
  }
}
