import type { StoreWatch } from '../../routers/kernel/store-watch.ts'
import { openWakes } from './wakes.ts'

/** Followed by the number of the database: Redis has its channels for all of them, and installations a database each. */
const CHANNEL = 'member-apps:changed'

/** Between attempts to connect again. */
const RECONNECT_MS = 500

/**
 * Wakes what waits on other nodes when this one has changed a store, and the other way round. While Redis is unavailable, nodes
 * notice within a second, by their own looks.
 */
export async function openRedisWakes(url: string, watches: Readonly<Record<string, StoreWatch>>) {
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
  const wakes = openWakes(watches, (text) => void publisher.publish(channel, text).catch(() => {}))
  subscriber.on('message', (_, text) => wakes.receive(text))
  // ioredis subscribes again after each connection. That Redis is unavailable is logged for the limits.
  subscriber.once('ready', () => void subscriber.subscribe(channel).catch(() => {}))
  for (const redis of [publisher, subscriber]) {
    redis.on('error', () => {})
    redis.connect().catch(() => {})
  }
  return {
    close() {
      wakes.close()
      publisher.disconnect()
      subscriber.disconnect()
    },
  }
}
