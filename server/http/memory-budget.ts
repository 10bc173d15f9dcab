import { errors } from '../../routers/kernel/errors.ts'

const MIB = 1024 ** 2

/** Memory for the large bodies of all requests and responses; with six teams that exhaust it, the process peaks at 433 MB. */
export const BUDGET_BYTES = 192 * MIB

/** The maximum for one request, with all calls of its batch; a larger body is counted as this. */
export const MAX_LEASE_BYTES = 96 * MIB

export const SMALL_RESPONSE_BYTES = 64 * 1024

/** Waiting requests per holder; the socket of each has read up to 64 KiB ahead. */
export const MAX_WAITING = 256

/** The peak memory of a body as a multiple of its bytes, and the time that it may wait for memory. */
export const uses = {
  /** A body stored as text: its bytes, the chunks that they came in, the response, and memory not yet collected. */
  text: { factor: 4, waitMs: 10_000 },
  /** A body that JSON.parse reads: 28 for arrays in arrays, in addition to its bytes and its text. A form takes less. */
  parsed: { factor: 32, waitMs: 10_000 },
  /** A response: rows, text in one or two bytes a character, and the bytes sent. */
  response: { factor: 5, waitMs: 30_000 },
}

export type Use = keyof typeof uses

/** A team by its id, `person ID`, or `address NETWORK`. Null: the first-party clients, which share one allowance. */
export type Holder = string | null

interface Account {
  held: number
  waiting: number
}

interface Waiter {
  holder: Holder
  bytes: number
  admit: () => void
}

/**
 * Memory shared among holders. A holder may reserve at most as much as it leaves free: alone it gets half, and it cannot exhaust
 * what the others need. A holder's first request only has to fit.
 */
export class MemoryBudget {
  #free: number
  readonly #accounts = new Map<Holder, Account>()
  readonly #waiters = new Set<Waiter>()

  constructor(bytes = BUDGET_BYTES) {
    this.#free = bytes
  }

  get freeBytes() {
    return this.#free
  }

  get waiting() {
    return this.#waiters.size
  }

  /** Reserves `bytes` if they are free and within the holder's share. */
  take(holder: Holder, bytes: number): boolean {
    const held = this.#accounts.get(holder)?.held ?? 0
    const left = this.#free - bytes
    if (left < 0 || (held > 0 && held + bytes > left)) return false
    this.#free = left
    this.#account(holder).held += bytes
    return true
  }

  /** Releases `bytes`, and admits every waiter that fits now, in order of arrival. */
  give(holder: Holder, bytes: number) {
    this.#free += bytes
    this.#account(holder).held -= bytes
    this.#forgetIfUnused(holder)
    for (const waiter of this.#waiters) if (this.take(waiter.holder, waiter.bytes)) waiter.admit()
  }

  /**
   * Reserves `bytes` as soon as they are free. Throws 503 after `waitMs`, or at once if too many of the holder's requests wait.
   */
  takeLater(holder: Holder, bytes: number, waitMs: number, maxWaiting = MAX_WAITING): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.take(holder, bytes)) return resolve()
      if ((this.#accounts.get(holder)?.waiting ?? 0) >= maxWaiting) return reject(errors.unavailable())
      const leave = () => {
        this.#waiters.delete(waiter)
        this.#account(holder).waiting--
        this.#forgetIfUnused(holder)
        clearTimeout(timer)
      }
      const admit = () => {
        leave()
        resolve()
      }
      const waiter = { holder, bytes, admit }
      const timer = setTimeout(() => {
        leave()
        reject(errors.unavailable())
      }, waitMs)
      this.#waiters.add(waiter)
      this.#account(holder).waiting++
    })
  }

  #account(holder: Holder): Account {
    const known = this.#accounts.get(holder)
    if (known) return known
    const account = { held: 0, waiting: 0 }
    this.#accounts.set(holder, account)
    return account
  }

  #forgetIfUnused(holder: Holder) {
    const account = this.#accounts.get(holder)
    if (account?.held === 0 && account.waiting === 0) this.#accounts.delete(holder)
  }
}
