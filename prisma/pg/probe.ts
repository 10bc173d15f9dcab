import pg from 'pg'

/** How long an answer of `isReady` is kept. */
const KEEP_MS = 500

const STEP_MS = 50

/** A connection of its own that has answered within `connectMs`. Rejects when it cannot be had. */
export async function answeringConnection(config: pg.ClientConfig, connectMs: number): Promise<pg.Client> {
  const client = new pg.Client(config)
  // A question in flight rejects as well; without a listener, 'error' would end the process.
  client.on('error', () => {})
  const timer = setTimeout(() => client.connection.stream.destroy(), connectMs)
  try {
    await client.connect()
    await client.query('SELECT 1')
    return client
  } catch (error) {
    client.connection.stream.destroy()
    throw error
  } finally {
    clearTimeout(timer)
  }
}

/** `refuses`: there was an answer, but an error. */
export type Verdict = 'answers' | 'refuses' | 'silent'

/** Asks the database over a connection of its own, which it keeps: a pool that is fully used is not a database that is away. */
export class Probe {
  readonly #config: pg.ClientConfig
  readonly #connectMs: number
  #kept: pg.Client | undefined
  #ended = false
  #ready: { verdict: Promise<Verdict>; until: number } | undefined

  /** An attempt to connect may take longer than an asker waits: TLS and a password take four round trips. */
  constructor(config: pg.ClientConfig, connectMs: number) {
    this.#config = config
    this.#connectMs = connectMs
  }

  /** Whether the database answers within `readyMs`, as it was 500 ms ago at most. */
  async isReady(readyMs: number): Promise<boolean> {
    if (!this.#ready || performance.now() >= this.#ready.until) {
      const ready = { verdict: this.ask(readyMs), until: Number.POSITIVE_INFINITY }
      this.#ready = ready
      void ready.verdict.then(() => {
        ready.until = performance.now() + KEEP_MS
      })
    }
    return (await this.#ready.verdict) === 'answers'
  }

  /** Never rejects. */
  async ask(timeoutMs: number): Promise<Verdict> {
    let timer: NodeJS.Timeout | undefined
    const silence = new Promise<Verdict>((resolve) => {
      // In steps, between which events are handled: a stall of this process is not the database's.
      let steps = timeoutMs / STEP_MS
      timer = setInterval(() => --steps <= 0 && setImmediate(resolve, 'silent'), STEP_MS).unref()
    })
    return Promise.race([this.#answer(), silence]).finally(() => clearInterval(timer))
  }

  async #answer(): Promise<Verdict> {
    const client = this.#kept
    if (client) {
      // Taken until it has answered: one that stays silent is not asked again.
      this.#kept = undefined
      const timer = setTimeout(() => client.connection.stream.destroy(), this.#connectMs).unref()
      const answered = await client.query('SELECT 1').then(
        () => true,
        () => false,
      )
      clearTimeout(timer)
      if (answered) {
        this.#keep(client)
        return 'answers'
      }
    }
    return answeringConnection(this.#config, this.#connectMs).then(
      (fresh) => {
        fresh.once('end', () => {
          if (this.#kept === fresh) this.#kept = undefined
        })
        this.#keep(fresh)
        return 'answers'
      },
      ({ code }) => (code === 'EHOSTUNREACH' || code === 'ENETUNREACH' ? 'silent' : 'refuses'),
    )
  }

  #keep(client: pg.Client) {
    if (this.#kept || this.#ended) return void client.end().catch(() => {})
    this.#kept = client
  }

  end() {
    this.#ended = true
    void this.#kept?.end().catch(() => {})
    this.#kept = undefined
  }
}
