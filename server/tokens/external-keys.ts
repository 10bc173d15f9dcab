import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose'
import { createLocalJWKSet, errors as jose } from 'jose'
import type { Logger } from 'pino'
import { errors } from '../../routers/kernel/errors.ts'
import type { jwksCache } from './jwks-cache.ts'

/** Between reads in the background, after a failed read, and between reads for unknown keys. */
export const INTERVALS = { reloadMs: 5 * 60_000, retryMs: 5_000, unknownKeyMs: 30_000 }

/** A failure that lasts is logged as an error once an hour. */
const ALARM_MS = 3_600_000

interface Options {
  cache: ReturnType<typeof jwksCache>
  now: () => number
  log: Logger
  intervals?: typeof INTERVALS | undefined
}

/** An issuer's key set, read now and then in the background; the cached one if the first read fails. Does not throw. */
export async function openExternalKeys(
  readKeySet: () => Promise<JSONWebKeySet>,
  { cache, now, log, intervals = INTERVALS }: Options,
) {
  let known: { text: string; find: JWTVerifyGetKey } | null = null
  let failure: { at: number; cause: unknown; alarmAt: number } | null = null
  let loading: Promise<void> | null = null
  let unknownKeyAt = Number.NEGATIVE_INFINITY
  let readAt = now()
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const use = (set: JSONWebKeySet) => {
    const text = JSON.stringify(set)
    if (text !== known?.text) known = { text, find: createLocalJWKSet(set) }
  }

  const failed = (cause: unknown) => {
    const at = now()
    const alarmAt = failure?.alarmAt ?? at + ALARM_MS
    const lasts = at >= alarmAt
    if (!failure) log.warn({ err: cause }, 'the keys of TOKEN_ISSUER cannot be read; known keys stay valid')
    else if (lasts) log.error({ err: cause }, 'the keys of TOKEN_ISSUER could not be read for the last hour')
    failure = { at, cause, alarmAt: lasts ? at + ALARM_MS : alarmAt }
  }

  const read = async () => {
    try {
      const set = await readKeySet()
      use(set)
      readAt = now()
      if (failure) log.info('the keys of TOKEN_ISSUER can be read again')
      failure = null
      if (!closed)
        cache.save(set).catch((error) => log.warn({ err: error }, 'the keys of TOKEN_ISSUER were not cached'))
    } catch (cause) {
      failed(cause)
      throw cause
    }
  }
  const load = () => {
    loading ??= read().finally(() => {
      loading = null
    })
    return loading
  }

  /** Reads the keys again, at most once an interval however many tokens name unknown keys; throws 503. */
  const loadForUnknownKey = async () => {
    if (!loading) {
      if (failure && now() < failure.at + intervals.retryMs) throw errors.unavailable(failure.cause)
      if (known && !failure && now() < unknownKeyAt + intervals.unknownKeyMs) return
      unknownKeyAt = now()
    }
    await load().catch((cause) => {
      throw errors.unavailable(cause)
    })
  }

  const find: JWTVerifyGetKey = async (header, token) => {
    if (!known) await loadForUnknownKey()
    try {
      return await known!.find(header, token)
    } catch (error) {
      if (!(error instanceof jose.JWKSNoMatchingKey)) throw error
      await loadForUnknownKey()
      return known!.find(header, token)
    }
  }

  const schedule = () => {
    // Nodes that started together do not all read at once.
    const jitter = 0.9 + Math.random() * 0.2
    const reload = async () => {
      await load().catch(() => {})
      if (!closed) schedule()
    }
    timer = setTimeout(reload, (failure ? intervals.retryMs : intervals.reloadMs) * jitter).unref()
  }

  await load().catch(async () => {
    const set = await cache.read()
    if (set) use(set)
  })
  schedule()

  return {
    find,
    /** Another object after each change of the keys. */
    version: (): unknown => known,
    /** Whether there are keys to verify tokens with. */
    ready: () => known !== null,
    /** When the keys were last read, in Unix milliseconds; before the first time, when this was called. */
    readAt: () => readAt,
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
