import type { Pool, PoolClient } from 'pg'

/** How often connections are looked at. */
const LOOK_MS = 500

/** What pg's client knows, and its types do not tell. */
interface Wire {
  _activeQuery: object | null
  connection: { stream: { destroy: (error: Error) => void } }
}

/**
 * Ends connections on which one query has had no answer for so long; whoever waits for it gets the error. pg's own
 * `query_timeout` does that with a timer a query: what a query has read then outlives two rounds of V8's collector, which
 * took a third of the CPU time of a LIST (npm run bench).
 */
export function watchForStalledQueries(pool: Pool, afterMs: number): void {
  const seen = new Map<PoolClient, { query: object | null; since: number }>()
  let timer: NodeJS.Timeout | undefined

  const look = () => {
    const now = performance.now()
    for (const [client, last] of seen) {
      const { _activeQuery: query, connection } = client as unknown as Wire
      if (query !== last.query) seen.set(client, { query, since: now })
      else if (query && now - last.since >= afterMs) connection.stream.destroy(new Error('Query read timeout'))
    }
  }
  pool.on('connect', (client) => {
    seen.set(client, { query: null, since: 0 })
    timer ??= setInterval(look, LOOK_MS).unref()
  })
  pool.on('remove', (client) => {
    seen.delete(client)
    if (seen.size > 0) return
    clearInterval(timer)
    timer = undefined
  })
}
