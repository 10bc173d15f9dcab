import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { StoreWatch } from '../../routers/kernel/store-watch.ts'

/** Followed by the number of the database: Redis has its channels for all of them, and installations a database each. */
const CHANNEL = 'member-apps:changed'

/** What changes within this time is one message: under load, a write costs no publication of its own. */
const GATHER_MS = 20

/** Between attempts to connect again. */
const RECONNECT_MS = 500

/** `changed`: name of the watch, app and club. */
const message = z.object({ from: z.string(), changed: z.array(z.tuple([z.string(), z.string(), z.string()])) })
type Message = z.output<typeof message>

/**
 * Wakes what waits on other nodes when this one has changed a store, and the other way round. While Redis is unavailable, nodes
 * notice within a second, by their own looks.
 */
export async function openRedisWakes(url: string, watches: Record<string, StoreWatch>) {
  const { Redis } = await import('ioredis')
  const options = {
    lazyConnect: true,
    connectionName: 'member-apps-wakes',
    retryStrategy: () => RECONNECT_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    keepAlive: 10_000,
  }
  const publisher = new Redis(url, options)
  const subscriber = new Redis(url, options)
  const channel = `${CHANNEL}:${publisher.options.db ?? 0}`
  const self = randomUUID()
  const changed = new Map<string, Message['changed'][number]>()
  let timer: NodeJS.Timeout | undefined
  const publish = () => {
    const text = JSON.stringify({ from: self, changed: [...changed.values()] } satisfies Message)
    changed.clear()
    timer = undefined
    publisher.publish(channel, text).catch(() => {})
  }
  for (const [name, watch] of Object.entries(watches)) {
    watch.onWake = ({ app, club }) => {
      changed.set(`${name}\0${app}\0${club}`, [name, app, club])
      timer ??= setTimeout(publish, GATHER_MS).unref()
    }
  }
  subscriber.on('message', (_, text) => {
    const { from, changed } = parsed(text)
    if (from === self) return
    for (const [name, app, club] of changed) watches[name]?.wakeHere({ app, club })
  })
  // ioredis subscribes again after each connection. That Redis is unavailable is logged for the limits.
  subscriber.once('ready', () => void subscriber.subscribe(channel).catch(() => {}))
  for (const redis of [publisher, subscriber]) {
    redis.on('error', () => {})
    redis.connect().catch(() => {})
  }
  return {
    close() {
      clearTimeout(timer)
      publisher.disconnect()
      subscriber.disconnect()
    },
  }
}

/** Other programs may use the same Redis. */
function parsed(text: string): Message {
  try {
    return message.parse(JSON.parse(text))
  } catch {
    return { from: '', changed: [] }
  }
}
