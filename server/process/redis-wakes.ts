import type { Watches } from './wakes.ts'
import { openWakes } from './wakes.ts'

/** Followed by the number of the database: Redis has its channels for all of them, and installations a database each. */
const CHANNEL = 'member-apps:changed'

/**
 * Redis takes a message in 0.1 ms: at most 500 a second. With 4 ms, a change reaches another node after 2.7 times a bare server's
 * time, with 2 ms after 2.5 times.
 */
const GATHER_MS = 2

/** A connection on which nothing answers for this time is reopened, as for the limits: its messages would gather for 15 minutes. */
const SILENCE_MS = 2_000

/** Between attempts to connect again. */
const RECONNECT_MS = 500

const options = {
  lazyConnect: true,
  connectionName: 'member-apps-wakes',
  retryStrategy: () => RECONNECT_MS,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  keepAlive: 10_000,
}

const open = async (url: string, silenceMs = SILENCE_MS) => {
  const { Redis } = await import('ioredis')
  const limits = { connectTimeout: silenceMs, socketTimeout: silenceMs, disconnectTimeout: silenceMs }
  const redis = new Redis(url, { ...options, ...limits, autoResubscribe: false })
  redis.on('error', () => {})
  return { redis, channel: `${CHANNEL}:${redis.options.db ?? 0}` }
}

/** Sends one message, for a process that does not stay. */
export async function sendByRedis(url: string, message: string) {
  const { redis, channel } = await open(url)
  try {
    await redis.connect()
    await redis.publish(channel, message)
  } finally {
    redis.disconnect()
  }
}

/**
 * Wakes what waits in other processes when this one has changed it, and the other way round. While Redis is unavailable, they
 * notice within a second, by their own looks.
 */
export async function openRedisWakes(url: string, watches: Watches, { silenceMs = SILENCE_MS } = {}) {
  const [{ redis: publisher, channel }, { redis: subscriber }] = await Promise.all([
    open(url, silenceMs),
    open(url, silenceMs),
  ])
  const connect = (redis: typeof publisher) => redis.connect().catch(() => {})
  const connected = connect(publisher)
  const send = (text: string) => connected.then(() => publisher.publish(channel, text))
  const wakes = openWakes(watches, { send, gatherMs: GATHER_MS })
  subscriber.on('message', (_, text) => wakes.receive(text))
  // That Redis is unavailable is logged for the limits.
  subscriber.on('ready', () => {
    subscriber.subscribe(channel).then(
      () => wakes.working(true),
      () => {},
    )
  })
  subscriber.on('close', () => wakes.working(false))
  // The subscriber expects no answer, so nothing tells it of silence.
  publisher.on('close', () => {
    if (subscriber.status !== 'ready') return
    wakes.working(false)
    subscriber.disconnect(true)
  })
  void connect(subscriber)
  return {
    async close() {
      await wakes.close()
      publisher.disconnect()
      subscriber.disconnect()
    },
  }
}
