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
  readonly #tickMs: number
  readonly #watched = new Set<Watched>()
  #isChecking = false
  #failures = 0
  #checkedAt = Number.NEGATIVE_INFINITY

  constructor(db: Database, now: () => number, tickMs = TICK_MS) {
    this.#db = db
    this.#now = now
    this.#tickMs = tickMs
  }

  /** When the last check that succeeded began, in Unix milliseconds. */
  get checkedAt() {
    return this.#checkedAt
  }

  /** Until the returned function is called. */
  add(watched: Watched): () => void {
    this.#watched.add(watched)
    if (!this.#isChecking) void this.#check()
    return () => void this.#watched.delete(watched)
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
    for (const { principal, end } of this.#watched) if (hasExpired(principal, now)) end()
  }

  /** One check of all. */
  async check() {
    this.#endExpired()
    const now = this.#now()
    const watched = [...this.#watched]
    const principals = watched.map(({ principal }) => principal)
    const found = await accessOfAll(this.#db, principals, now).catch(() => undefined)
    this.#failures = found ? 0 : this.#failures + 1
    if (found) this.#checkedAt = now
    for (const [i, { allows, end }] of watched.entries()) {
      const isAllowed = found ? allows(found[i]) : this.#failures < MAX_FAILURES
      if (!isAllowed) end()
    }
  }
}
