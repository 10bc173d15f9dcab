import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../prisma/client.ts'
import type { Access, Principal } from './access.ts'
import { accessOfAll, hasExpired } from './access.ts'

/** Between looks at the clock: a stream ends within a second of its token. */
const TICK_MS = 1_000

/** Ticks between looks at the database: every change takes effect within 5 s. */
const CHECK_TICKS = 4

/** After this many failed checks in a row everything watched ends: its clients ask again, and get a 503 or their data. */
const MAX_FAILURES = 2

interface Watched {
  principal: Principal
  allows: (access: Access | undefined) => boolean
  end: () => void
}

/** Ends the streams and waits of callers whose token or access has ended: one query for all of them. */
export class AccessWatch {
  readonly #db: Database
  readonly #now: () => number
  readonly #steady: () => number
  readonly #tickMs: number
  readonly #watched = new Set<Watched>()
  /** Until what is watched changes. */
  #ask: ReturnType<typeof accessOfAll> | undefined
  /** When the first token of those watched expires, or earlier, as it may have left. */
  #expiresAt = Number.POSITIVE_INFINITY
  /** What the last check has found. */
  #allowed: readonly unknown[] | undefined
  #isChecking = false
  #failures = 0
  #checkedAt = Number.NEGATIVE_INFINITY

  constructor(db: Database, now: () => number, steady = now, tickMs = TICK_MS) {
    this.#db = db
    this.#now = now
    this.#steady = steady
    this.#tickMs = tickMs
  }

  /** When the last check that succeeded began, by the steady clock. */
  get checkedAt() {
    return this.#checkedAt
  }

  /** Until the returned function is called. */
  add(watched: Watched): () => void {
    this.#watched.add(watched)
    this.#ask = undefined
    this.#expiresAt = Math.min(this.#expiresAt, readExpiry(watched))
    if (!this.#isChecking) void this.#check()
    return () => {
      this.#watched.delete(watched)
      this.#ask = undefined
    }
  }

  async #check() {
    this.#isChecking = true
    for (let tick = 1; ; tick++) {
      await pause(this.#tickMs, undefined, { ref: false })
      if (this.#watched.size === 0) break
      if (tick % CHECK_TICKS === 0) await this.check()
      else this.#endExpired()
    }
    this.#isChecking = false
  }

  #endExpired() {
    const now = this.#now()
    if (now < this.#expiresAt) return
    this.#expiresAt = Number.POSITIVE_INFINITY
    for (const watched of this.#watched) {
      if (hasExpired(watched.principal, now)) watched.end()
      else this.#expiresAt = Math.min(this.#expiresAt, readExpiry(watched))
    }
  }

  /** One check of all. */
  async check() {
    this.#endExpired()
    const [now, startedAt] = [this.#now(), this.#steady()]
    const watched = [...this.#watched]
    this.#ask ??= accessOfAll(
      this.#db,
      watched.map(({ principal }) => principal),
    )
    const found = await this.#ask(now).catch(() => undefined)
    this.#failures = found ? 0 : this.#failures + 1
    if (found) this.#checkedAt = startedAt
    if (found && found === this.#allowed) return
    for (const [i, { allows, end }] of watched.entries()) {
      const isAllowed = found ? allows(found[i]) : this.#failures < MAX_FAILURES
      if (!isAllowed) end()
    }
    this.#allowed = found
  }
}

const readExpiry = ({ principal: { expiresAt = Number.POSITIVE_INFINITY } }: Watched) => expiresAt
