import { InFlight } from '../../prisma/in-flight.ts'

/** The average rate that a client must reach, and the time before it applies. */
export interface Rate {
  bytesPerSecond: number
  graceMs: number
}

export const MIN_UPLOAD: Rate = { bytesPerSecond: 32 * 1024, graceMs: 10_000 }
export const MIN_DOWNLOAD: Rate = { bytesPerSecond: 64 * 1024, graceMs: 20_000 }

const CHECK_MS = 1_000

/** Watches transfers by one timer: nearly each request with a body begins to wait for it. */
export class RateWatch {
  readonly #checks = new InFlight<() => void>()
  #timer: NodeJS.Timeout | undefined

  add({ bytesPerSecond, graceMs }: Rate, transferred: () => number, onTooSlow: () => void): () => void {
    const start = performance.now()
    let last = { bytes: transferred(), at: start }
    const end = this.#checks.add(() => {
      const [bytes, now] = [transferred(), performance.now()]
      if (bytes > last.bytes) last = { bytes, at: now }
      const required = ((now - start - graceMs) / 1000) * bytesPerSecond
      if (bytes >= required && now - last.at < graceMs) return
      end()
      onTooSlow()
    })
    this.#timer ??= setInterval(() => this.#checkAll(), CHECK_MS).unref()
    return end
  }

  #checkAll() {
    for (const check of this.#checks.items()) check()
    if (this.#checks.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }
}

const transfers = new RateWatch()

/**
 * Watches a transfer, as it occupies a connection, and memory that others wait for. Calls `onTooSlow` once, when the bytes that
 * `transferred` returns fall below the rate, or do not change for `graceMs`. Returns a function that ends the watch.
 */
export const watchRate = (rate: Rate, transferred: () => number, onTooSlow: () => void): (() => void) =>
  transfers.add(rate, transferred, onTooSlow)
