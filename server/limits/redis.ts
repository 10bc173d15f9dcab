import type { Logger } from 'pino'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import type { NextTurn } from './breaker.ts'
import { Breaker } from './breaker.ts'
import type { Limits } from './limit.ts'
import { SharedLimit } from './shared-limit.ts'

/** Prefix of every key, as other programs may use the same Redis. */
export const KEY_PREFIX = 'member-apps:limit'

/** The maximum time that start-up waits for Redis. */
const START_MS = 2_000

/** A connection that receives nothing for this time is reopened: its peer may be gone. */
const SILENCE_MS = 2_000
const RECONNECT_MS = 500

interface Options {
  url: string
  /** The number of processes that share each limit while Redis is unavailable. */
  nodes: number
  log: Logger
  nextTurn?: NextTurn | undefined
}

/**
 * Counts in Redis, for all processes that use it: each key for the rest of its window. No request fails or waits longer than 45
 * ms because of Redis, which may be unavailable at start-up as well: then each process counts its share. Never throws.
 */
export async function openRedisLimits({ url, nodes, log, nextTurn }: Options): Promise<Limits> {
  const { Redis } = await import('ioredis')
  const redis = new Redis(url, {
    lazyConnect: true,
    connectionName: 'member-apps',
    connectTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
    retryStrategy: () => RECONNECT_MS,
    // A command is sent immediately or never: later its request has been answered.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // From a node that a failover has made a replica, to the new primary. Before Redis 7, a script's error begins otherwise.
    reconnectOnError: ({ message }) => message.includes('READONLY'),
  })
  const createLimiter = (name: string, points: number, duration: number) =>
    new RateLimiterRedis({ storeClient: redis, keyPrefix: `${KEY_PREFIX}:${name}`, points, duration })

  const probing = createLimiter('probe', 1, 60)
  let known = () => {}
  const isKnown = new Promise<void>((resolve) => {
    known = resolve
  })
  const breaker = new Breaker(
    // A write, as a replica or a full Redis still answers reads.
    () => probing.penalty('probe', 1),
    (away, reason) => {
      known()
      if (away) log.warn({ err: reason }, 'Redis is out of reach: this process counts limits by itself')
      else log.info('limits are counted in Redis')
    },
    nextTurn,
  )
  let lastError: Error | undefined
  redis.on('error', (error) => {
    lastError = error
  })
  redis.on('ready', () => void breaker.probe())
  redis.on('close', () => breaker.open(lastError ?? new Error('the connection to Redis was closed')))
  redis.connect().catch(() => {})
  const timer = setTimeout(() => breaker.open(lastError ?? new Error('Redis does not answer')), START_MS)
  await isKnown
  clearTimeout(timer)

  const opened = new Map<string, SharedLimit>()
  return {
    open(name, points, windowSeconds) {
      let limit = opened.get(name)
      if (limit) return limit
      const limiter = createLimiter(name, points, windowSeconds)
      const add = (key: string, by: number) => limiter.penalty(key, by)
      limit = new SharedLimit({ points, windowSeconds, nodes, breaker, add })
      opened.set(name, limit)
      return limit
    },
    store: () => (breaker.away ? 'memory' : 'redis'),
    failures: () => breaker.failures,
    async close() {
      await Promise.all([...opened.values()].map((limit) => limit.close()))
      breaker.close()
      redis.disconnect()
    },
  }
}
