import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../prisma/client.ts'
import type { Access, Principal } from './access.ts'
import { accessOfAll, hasExpired } from './access.ts'

/** Every change takes effect within 5 s. */
const CHECK_MS = 4_000

/** After so many failed checks in a row every stream ends: its clients ask again, and get a 503 or their data. */
const MAX_FAILURES = 2

interface Stream {
  principal: Principal
  allows: (access: Access | undefined) => boolean
  end: () => void
}

/** Ends streams whose token or access has ended: one query for all of them. */
export class AccessWatch {
  readonly #db: Database
  readonly #now: () => number
  readonly #checkMs: number
  readonly #streams = new Set<Stream>()
  #isChecking = false
  #failures = 0

  constructor(db: Database, now: () => number, checkMs = CHECK_MS) {
    this.#db = db
    this.#now = now
    this.#checkMs = checkMs
  }

  /** Until the returned function is called. */
  add(stream: Stream): () => void {
    this.#streams.add(stream)
    if (!this.#isChecking) void this.#check()
    return () => void this.#streams.delete(stream)
  }

  async #check() {
    this.#isChecking = true
    for (;;) {
      await pause(this.#checkMs, undefined, { ref: false })
      if (this.#streams.size === 0) break
      await this.check()
    }
    this.#isChecking = false
  }

  /** One check of all streams. */
  async check() {
    const now = this.#now()
    const streams = [...this.#streams]
    const found = await accessOfAll(
      this.#db,
      streams.map(({ principal }) => principal),
      now,
    ).catch(() => undefined)
    this.#failures = found ? 0 : this.#failures + 1
    for (const [i, { principal, allows, end }] of streams.entries()) {
      const isAllowed = found ? allows(found[i]) : this.#failures < MAX_FAILURES
      if (!isAllowed || hasExpired(principal, now)) end()
    }
  }
}
