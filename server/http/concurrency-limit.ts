import type { ServerResponse } from 'node:http'
import { errors } from '../../routers/kernel/errors.ts'

export interface ShareOptions {
  atOnce: number
  /** A sender's waiting requests, and their maximum waiting time. */
  waiting: number
  waitMs: number
}

interface Share {
  inFlight: number
  waiting: Set<() => void>
}

/** Keeps one sender from occupying the whole process. */
export class ConcurrencyLimit {
  readonly #shares = new Map<string, Share>()
  readonly #entered = new WeakMap<ServerResponse, Promise<void>>()
  readonly #leaves = new WeakMap<ServerResponse, () => void>()
  readonly #options: ShareOptions

  constructor(options: ShareOptions) {
    this.#options = options
  }

  /** Takes a place for a request until its response has ended; a batch's calls share one, and wait for it together. Throws 503. */
  enter(sender: string, response: ServerResponse): Promise<void> {
    const entered = this.#entered.get(response) ?? this.#enter(sender, response)
    this.#entered.set(response, entered)
    return entered
  }

  async #enter(sender: string, response: ServerResponse): Promise<void> {
    const share = this.#shares.get(sender) ?? { inFlight: 0, waiting: new Set() }
    this.#shares.set(sender, share)
    if (share.inFlight >= this.#options.atOnce) await this.#wait(share)
    else share.inFlight++
    let isServed = true
    const leave = () => {
      if (isServed) this.#leave(sender, share)
      isServed = false
    }
    this.#leaves.set(response, leave)
    if (response.closed) leave()
    else response.once('close', leave)
  }

  /** Gives a request's place back early, as it only waits from now on. */
  leave(response: ServerResponse) {
    this.#leaves.get(response)?.()
  }

  #wait({ waiting }: Share): Promise<void> {
    if (waiting.size >= this.#options.waiting) throw errors.unavailable()
    return new Promise((resolve, reject) => {
      const admit = () => {
        waiting.delete(admit)
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(admit)
        reject(errors.unavailable())
      }, this.#options.waitMs)
      waiting.add(admit)
    })
  }

  #leave(sender: string, share: Share) {
    const [next] = share.waiting
    if (next) return next()
    share.inFlight--
    if (share.inFlight === 0) this.#shares.delete(sender)
  }
}

/** For sandbox clients, which have no rate limit: 3,000 concurrent requests of one client delayed the others by 0.25 s. */
export const sandboxConcurrency = (waitMs = 1_000) => new ConcurrencyLimit({ atOnce: 32, waiting: 256, waitMs })
