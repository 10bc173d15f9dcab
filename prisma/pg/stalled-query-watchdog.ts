import pg from 'pg'

const CHECK_INTERVAL_MS = 500

/** A client that knows how long its current query has been running. */
class TimedClient extends pg.Client {
  /** On the clock of performance.now(); 0 between queries. */
  queryStart = 0

  constructor(config?: pg.ClientConfig) {
    super(config)
    this.on('drain', () => {
      this.queryStart = 0
    })
  }

  override query = ((...query: Parameters<pg.Client['query']>) => {
    this.queryStart = performance.now()
    return super.query(...query)
  }) as pg.Client['query']
}

/**
 * A pool that closes a connection whose query has had no response for `timeoutMs`; the query fails with "Query read
 * timeout". pg's own `query_timeout` sets a timer per query, which keeps the rows alive for two rounds of garbage
 * collection: a third of the CPU time of a LIST (npm run bench).
 */
export function createWatchedPool(config: pg.PoolConfig, timeoutMs: number): pg.Pool {
  const clients = new Set<TimedClient>()
  let timer: NodeJS.Timeout | undefined

  const check = () => {
    const latest = performance.now() - timeoutMs
    for (const { queryStart, connection } of clients) {
      if (queryStart !== 0 && queryStart <= latest) connection.stream.destroy(new Error('Query read timeout'))
    }
  }
  const pool = new pg.Pool({ ...config, Client: TimedClient })
  pool.on('connect', (client) => {
    if (client instanceof TimedClient) clients.add(client)
    timer ??= setInterval(check, CHECK_INTERVAL_MS).unref()
  })
  pool.on('remove', (client) => {
    if (client instanceof TimedClient) clients.delete(client)
    if (clients.size > 0) return
    clearInterval(timer)
    timer = undefined
  })
  return pool
}
