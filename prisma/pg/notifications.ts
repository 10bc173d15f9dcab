import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { endConnection } from './end-connection.ts'
import { parseAddress } from './pg-internals.ts'

/** PostgreSQL accepts fewer than 8,000 bytes. */
export const MAX_NOTIFICATION_BYTES = 7_900

/**
 * `answer`: for the connection, each of its statements, and the probe. `reconnect`: between attempts to connect again; `retry`: where
 * notifications do not arrive, as through PgBouncer.
 */
const WAITS_MS = { answer: 2_000, reconnect: 500, retry: 60_000 }

interface Options {
  /** The server's own address, without a pooler between. */
  url: string
  channel: string
  /** A text for the probe of a connection, never twice the same. */
  hello: () => string
  /** Sends a notification over another connection. */
  probe: (channel: string, text: string) => Promise<unknown>
  received: (text: string) => void
  /** Whether notifications arrive. First called once that is known. */
  working: (isWorking: boolean) => void
  waitsMs?: typeof WAITS_MS
}

/**
 * LISTEN and NOTIFY over a connection of its own, which is opened again when it breaks. A pooler in transaction mode accepts
 * LISTEN and delivers nothing: so each connection has to receive a probe first.
 */
export function openNotifications({ url, channel, hello, probe, received, working, waitsMs = WAITS_MS }: Options) {
  const config = parseAddress({
    connectionString: url,
    application_name: 'member-apps-api',
    connectionTimeoutMillis: waitsMs.answer,
    query_timeout: waitsMs.answer,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  })
  const ending = new AbortController()
  let leave = () => {}
  let current: pg.Client | undefined
  /** Whether the first connection has received its probe, or has not. */
  let isSettled = false
  let sent: Promise<unknown> = Promise.resolve()

  /** Resolves when the connection has broken or is no longer needed, or when nothing arrives on it. */
  const serve = async (client: pg.Client): Promise<'over' | 'deaf'> => {
    const over = new Promise<'over'>((resolve) => {
      client.on('error', () => resolve('over'))
      client.on('end', () => resolve('over'))
      leave = () => resolve('over')
    })
    const own = hello()
    const probed = new Promise<void>((resolve) => {
      client.on('notification', ({ payload = '' }) => (payload === own ? resolve() : received(payload)))
    })
    const begin = async () => {
      await client.connect()
      await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
      await probe(channel, own)
      return Promise.race([probed, pause(waitsMs.answer, 'deaf' as const, { ref: false })])
    }
    const failure = await Promise.race([begin(), over])
    if (failure !== undefined) return failure
    current = client
    isSettled = true
    working(true)
    return over
  }

  const keepServing = async () => {
    while (!ending.signal.aborted) {
      const client = new pg.Client(config)
      const outcome = await serve(client).catch(() => 'over' as const)
      current = undefined
      isSettled = true
      if (!ending.signal.aborted) working(false)
      await endConnection(client)
      const ms = outcome === 'deaf' ? waitsMs.retry : waitsMs.reconnect
      await pause(ms, undefined, { ref: false, signal: ending.signal }).catch(() => {})
    }
  }
  const served = keepServing()

  const send = async (text: string) => {
    const client = current
    if (client)
      await client.query('SELECT pg_notify($1, $2)', [channel, text]).catch(() => void client.end().catch(() => {}))
    else if (!isSettled) await probe(channel, text)
  }

  return {
    /** One after the other. While there is no connection, it does nothing; before the first one, it sends as `probe` does. */
    notify(text: string): Promise<unknown> {
      sent = sent.then(() => send(text)).catch(() => {})
      return sent
    },
    async close() {
      ending.abort()
      leave()
      await served
    },
  }
}
