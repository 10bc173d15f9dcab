import type { PoolClient } from 'pg'
import pg from 'pg'
import { Breaker } from '../breaker.ts'
import { InFlight } from '../in-flight.ts'
import type { TimeLimits } from '../time-limits.ts'
import { answeringConnection, Probe } from './probe.ts'
import { StalledQueryWatchdog, TimedClient } from './stalled-query-watchdog.ts'

type Callback = (error: Error | undefined, client: PoolClient | undefined, release: (error?: unknown) => void) => void

interface Waiter {
  callback: Callback
  refused: boolean
}

/** What is called once as the database gets out of reach, and once when it can be reached again. */
export interface AvailabilityEvents {
  away?: (cause: Error) => void
  back?: () => void
}

/** As pg's pool words it, where its connections were all in use for too long. */
export const NO_PLACE = 'timeout exceeded when trying to connect'

/**
 * A pool in which nobody waits for a database that is away. A failure to connect opens a breaker: idle connections are
 * still used and busy ones waited for, but new ones are refused at once. A silent database fails all of its queries and
 * waiters within `suspiciousMs + silentMs`, and each waiter fails after `placeMs`.
 */
export class BoundedPool extends pg.Pool {
  readonly #waiters = new InFlight<Waiter>()
  readonly #probe: Probe
  readonly #breaker: Breaker
  readonly #watchdog: StalledQueryWatchdog
  readonly #readyMs: number

  constructor(config: pg.PoolConfig, limits: TimeLimits, events: AvailabilityEvents = {}) {
    const { placeMs, stalledMs, suspiciousMs, silentMs, readyMs } = limits
    super({ ...config, Client: TimedClient, connectionTimeoutMillis: placeMs })
    this.#readyMs = readyMs
    const { max } = this.options
    this.#probe = new Probe(config, placeMs)
    this.#breaker = new Breaker({
      tryConnection: async () => {
        await (await answeringConnection(config, placeMs)).end()
      },
      // A full pool queues, and opens no connection.
      onOpen: (cause) => {
        this.options.max = 0
        events.away?.(cause)
      },
      onClose: () => {
        this.options.max = max
        if (!this.ending) events.back?.()
      },
    })
    this.#watchdog = new StalledQueryWatchdog({
      stalledMs,
      suspiciousMs,
      isSilent: async () => (await this.#probe.ask(silentMs)) === 'silent',
      onSilence: () => {
        this.#watchdog.cut()
        this.#open(new Error('it does not answer'))
      },
    })
    const drop = (client: pg.ClientBase) => {
      this.#watchdog.delete(client as TimedClient)
      this.#refuseWaiters()
    }
    this.on('connect', (client) => this.#watchdog.add(client as unknown as TimedClient))
    this.on('release', (error, client) => error && drop(client))
    this.on('remove', drop)
    // Without a listener, an idle connection that breaks would end the process.
    this.on('error', () => {})
  }

  /** Whether the database answers within `readyMs` over a connection of its own (kept for 500 ms), and nobody is refused. */
  async isReady(): Promise<boolean> {
    return (await this.#probe.isReady(this.#readyMs)) && !this.#refuses
  }

  /** While nothing can connect, and no connection is left. */
  get #refuses() {
    return this.#breaker.isOpen && this.#watchdog.size === 0
  }

  override connect(): Promise<PoolClient>
  override connect(callback: Callback): void
  override connect(callback?: Callback): Promise<PoolClient> | undefined {
    if (callback) {
      this.#connect(callback)
      return undefined
    }
    return new Promise((resolve, reject) => {
      this.#connect((error, client) => (error ? reject(error) : resolve(client!)))
    })
  }

  #connect(callback: Callback) {
    if (this.#refuses) {
      process.nextTick(callback, this.#breaker.refusal(), undefined, () => {})
      return
    }
    const since = performance.now()
    const waiter: Waiter = { callback, refused: false }
    const served = this.#waiters.add(waiter)
    super.connect((error: Error | undefined, client: PoolClient | undefined, release: (error?: unknown) => void) => {
      served()
      if (waiter.refused) return client && release()
      if (error && error.message !== NO_PLACE && !this.ending) this.#open(error, since)
      return callback(error, client, release)
    })
  }

  #open(cause: Error, since?: number) {
    this.#breaker.open(cause, since)
    this.#refuseWaiters()
  }

  #refuseWaiters() {
    if (!this.#refuses) return
    for (const waiter of this.#waiters.items()) {
      if (waiter.refused) continue
      waiter.refused = true
      waiter.callback(this.#breaker.refusal(), undefined, () => {})
    }
  }

  override end(): Promise<void>
  override end(callback: () => void): void
  override end(callback?: () => void): Promise<void> | undefined {
    this.#breaker.close()
    this.#probe.end()
    if (!callback) return super.end()
    super.end(callback)
    return undefined
  }
}
