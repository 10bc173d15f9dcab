import type { ServerResponse } from 'node:http'
import type { SharedMemory } from '../../routers/kernel/context.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { Holder, MemoryBudget, Use } from './memory-budget.ts'
import { MAX_LEASE_BYTES, uses } from './memory-budget.ts'

/** What a holder has taken from the budget. */
class Held implements SharedMemory {
  readonly #budget: MemoryBudget
  readonly #holder: Holder
  bytes = 0

  constructor(budget: MemoryBudget, holder: Holder) {
    this.#budget = budget
    this.#holder = holder
  }

  shrinkTo(bytes: number) {
    const surplus = this.bytes - bytes
    if (surplus <= 0) return
    this.bytes = bytes
    this.#budget.give(this.#holder, surplus)
  }
}

/** A request's memory, from its body to the end of its response. Only large bodies need one. */
export class Lease {
  readonly #budget: MemoryBudget
  readonly #response: ServerResponse
  readonly #holder: Holder
  readonly #held: Held
  #first: Promise<void> | undefined

  constructor(budget: MemoryBudget, response: ServerResponse, holder: Holder) {
    this.#budget = budget
    this.#response = response
    this.#holder = holder
    this.#held = new Held(budget, holder)
  }

  /**
   * Reserves memory for a body. Only a request without reserved memory waits, so that no two wait for each other; a batch's calls
   * wait together. Throws 503, also if the client has disconnected meanwhile.
   */
  async reserve(bytes: number, use: Use): Promise<void> {
    const { factor, waitMs } = uses[use]
    const needed = Math.ceil(bytes * factor)
    if (this.#first) {
      await this.#first
      // The calls of a streamed response run on when its client has left, and all has been given back.
      if (this.#response.destroyed) throw errors.unavailable()
      const fits = this.#held.bytes + needed <= MAX_LEASE_BYTES && this.#budget.take(this.#holder, needed)
      if (!fits) throw errors.unavailable()
      this.#held.bytes += needed
      return
    }
    const first = Math.min(needed, MAX_LEASE_BYTES)
    this.#first = this.#budget.takeLater(this.#holder, first, waitMs).then(() => {
      this.#held.bytes = first
      if (!this.#response.destroyed) return
      this.#held.shrinkTo(0)
      throw errors.unavailable()
    })
    await this.#first
  }

  /** Reserves `bytes` for a rendered response, until it is sent or its client has disconnected. Throws 503. */
  hold(bytes: number) {
    if (!this.#budget.take(this.#holder, bytes)) throw errors.unavailable()
    this.#held.bytes += bytes
    this.rendered(bytes)
  }

  /** Every call has returned: only the response's `bytes` stay reserved, until it is sent or its client has disconnected. */
  rendered(bytes: number) {
    this.#held.shrinkTo(this.#response.destroyed ? 0 : bytes)
    if (this.#held.bytes > 0) this.#response.once('close', () => this.#held.shrinkTo(0))
  }
}

/** Reserves memory for a request's body until its response is sent or its client has disconnected. Throws 503. */
export async function reserveUntilSent(
  budget: MemoryBudget,
  response: ServerResponse,
  holder: Holder,
  bytes: number,
  use: Use,
): Promise<void> {
  const lease = new Lease(budget, response, holder)
  await lease.reserve(bytes, use)
  response.once('close', () => lease.rendered(0))
}

/**
 * Reserves memory for a response of `bytes` that several requests send, until it is shrunk to nothing. Any number may wait: their
 * number is limited by that of waiting calls. Throws 503.
 */
export async function reserveShared(budget: MemoryBudget, holder: Holder, bytes: number): Promise<SharedMemory> {
  const { factor, waitMs } = uses.response
  const needed = Math.min(Math.ceil(bytes * factor), MAX_LEASE_BYTES)
  await budget.takeLater(holder, needed, waitMs, Number.POSITIVE_INFINITY)
  const held = new Held(budget, holder)
  held.bytes = needed
  return held
}
