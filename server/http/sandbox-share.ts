import type { ServerResponse } from 'node:http'
import { errors } from '../../routers/errors.ts'

/** Requests of one sandbox client that a process serves at once. Sandbox clients have no rate limit. */
const MAX_IN_FLIGHT = 32

/** Requests of one sandbox client that wait, and for how long. */
const MAX_WAITING = 256
const WAIT_MS = 1_000

interface Share {
  inFlight: number
  waiting: Set<() => void>
}

/** Keeps one sandbox client from taking the process for itself: 3,000 requests at once made its neighbours wait for 0.25 s. */
export class SandboxShares {
  readonly #shares = new Map<string, Share>()
  readonly #served = new WeakSet<ServerResponse>()
  readonly #waitMs: number

  constructor(waitMs = WAIT_MS) {
    this.#waitMs = waitMs
  }

  /** Takes a place for a request until its response has ended; the calls of a batch share one. Throws 503. */
  async enter(client: string, response: ServerResponse): Promise<void> {
    if (this.#served.has(response)) return
    this.#served.add(response)
    const share = this.#shares.get(client) ?? { inFlight: 0, waiting: new Set() }
    this.#shares.set(client, share)
    if (share.inFlight >= MAX_IN_FLIGHT) await this.#wait(share)
    else share.inFlight++
    const leave = () => this.#leave(client, share)
    if (response.closed) leave()
    else response.once('close', leave)
  }

  /** Resolves with a place that another request has left. */
  #wait({ waiting }: Share): Promise<void> {
    if (waiting.size >= MAX_WAITING) throw errors.unavailable()
    return new Promise((resolve, reject) => {
      const admit = () => {
        waiting.delete(admit)
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(admit)
        reject(errors.unavailable())
      }, this.#waitMs)
      waiting.add(admit)
    })
  }

  #leave(client: string, share: Share) {
    const [next] = share.waiting
    if (next) return next()
    share.inFlight--
    if (share.inFlight === 0) this.#shares.delete(client)
  }
}
