import type pg from 'pg'
import { SteadyClient } from './stale-statements.ts'

/** A client that knows how long its current query has been running. */
export class TimedClient extends SteadyClient {
  /** On the clock of performance.now(); 0 between queries. */
  queryStart = 0
  answeredAt = 0
  constructor(config?: pg.ClientConfig) {
    super(config)
    this.on('drain', () => {
      this.queryStart = 0
      this.answeredAt = performance.now()
    })
  }

  override query = ((...query: Parameters<pg.Client['query']>) => {
    this.queryStart = performance.now()
    return super.query(...query)
  }) as pg.Client['query']
}

interface Options {
  /** Without an answer for so long, a query fails with "Query read timeout", and its connection is closed. */
  stalledMs: number
  /** After so long the database is asked whether it is there. */
  suspiciousMs: number
  /** Whether it stays silent over another connection as well. */
  isSilent: () => Promise<boolean>
  /** Called when it does, and no connection has had an answer meanwhile. */
  onSilence: () => void
}

const CHECK_INTERVAL_MS = 250

/**
 * Watches the queries of clients. pg's own `query_timeout` sets a timer per query, which keeps the rows alive for two
 * rounds of garbage collection: a third of the CPU time of a LIST (npm run bench).
 */
export class StalledQueryWatchdog {
  readonly #clients = new Set<TimedClient>()
  readonly #options: Options
  #timer: NodeJS.Timeout | undefined
  #asking = false

  constructor(options: Options) {
    this.#options = options
  }

  /** The number of clients. */
  get size() {
    return this.#clients.size
  }

  add(client: TimedClient) {
    this.#clients.add(client)
    this.#timer ??= setInterval(() => this.#check(), CHECK_INTERVAL_MS).unref()
  }

  delete(client: TimedClient) {
    this.#clients.delete(client)
    if (this.#clients.size > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Closes all connections; their queries fail. */
  cut() {
    for (const { connection } of this.#clients) connection.stream.destroy(new Error('Query read timeout'))
  }

  #check() {
    const now = performance.now()
    const { stalledMs, suspiciousMs } = this.#options
    let suspicious = false
    for (const { queryStart, connection } of this.#clients) {
      if (queryStart === 0) continue
      if (queryStart <= now - stalledMs) connection.stream.destroy(new Error('Query read timeout'))
      else if (queryStart <= now - suspiciousMs) suspicious = true
    }
    if (suspicious && !this.#asking) void this.#ask()
  }

  async #ask() {
    this.#asking = true
    const start = performance.now()
    const silent = await this.#options.isSilent()
    this.#asking = false
    const hasAnswered = [...this.#clients].some(({ answeredAt }) => answeredAt >= start)
    if (silent && !hasAnswered) this.#options.onSilence()
  }
}
