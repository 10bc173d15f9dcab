import type { ExportedJWKSCache, FetchImplementation } from 'jose'
import { createRemoteJWKSet, customFetch, jwksCache } from 'jose'
import type { Logger } from 'pino'
import { errors } from '../../routers/kernel/errors.ts'
import type { storedKeySet } from './jwks-cache.ts'
import type { IssuerAddress } from './jwks-discovery.ts'
import { readKeySet } from './jwks-discovery.ts'
import { reloadAfterPause } from './published-keys.ts'

/** Between background reads, after a failed read, and between a read and one for an unknown key. */
export const INTERVALS = { reloadMs: 5 * 60_000, retryMs: 5_000, unknownKeyMs: 30_000 }

/** A persistent failure is logged as an error once an hour. */
const ALARM_MS = 3_600_000

interface Options {
  stored: ReturnType<typeof storedKeySet>
  now: () => number
  log: Logger
  intervals?: typeof INTERVALS | undefined
  /** Timeout for the issuer's documents together. */
  issuerMs: number
}

/** Reads an issuer's key set regularly in the background; uses the stored one if the first read fails. */
export async function openExternalKeys(
  address: IssuerAddress,
  { stored, now, log, intervals = INTERVALS, issuerMs }: Options,
) {
  let failure: { at: number; cause: unknown; alarmAt: number } | null = null
  let readAt = now()
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const failed = (cause: unknown) => {
    const at = now()
    const alarmAt = failure?.alarmAt ?? at + ALARM_MS
    const lasts = at >= alarmAt
    if (!failure) log.warn({ err: cause }, 'the keys of TOKEN_ISSUER cannot be read; known keys stay valid')
    else if (lasts) log.error({ err: cause }, 'the keys of TOKEN_ISSUER could not be read for the last hour')
    failure = { at, cause, alarmAt: lasts ? at + ALARM_MS : alarmAt }
  }

  /** Throws 503. jose would ask again for each unknown key after a failure, and does not limit the size. */
  const read: FetchImplementation = async (_url, { signal }) => {
    // The clock may have been set back: then it is not known how long ago that was.
    if (failure && Math.abs(now() - failure.at) < intervals.retryMs) throw errors.unavailable(failure.cause)
    const set = await readKeySet(address, signal).catch((cause) => {
      failed(cause)
      throw errors.unavailable(cause)
    })
    readAt = now()
    if (failure) log.info('the keys of TOKEN_ISSUER can be read again')
    failure = null
    if (!closed) stored.save(set).catch((error) => log.warn({ err: error }, 'the keys of TOKEN_ISSUER were not stored'))
    return Response.json(set)
  }

  const before = await stored.read()
  const cached: Partial<ExportedJWKSCache> = before ? { uat: 0, jwks: before } : {}
  const keys = createRemoteJWKSet(new URL(address.issuer), {
    timeoutDuration: issuerMs,
    cooldownDuration: intervals.unknownKeyMs,
    cacheMaxAge: Number.POSITIVE_INFINITY,
    [customFetch]: read,
    [jwksCache]: cached as ExportedJWKSCache,
  })
  const reload = async () => {
    await keys.reload().catch(() => {})
    if (closed) return
    // Spreads the reads of nodes that started together.
    const jitter = 1 + Math.random() * 0.2
    timer = setTimeout(reload, (failure ? intervals.retryMs : intervals.reloadMs) * jitter).unref()
  }
  await reload()

  return {
    keys,
    /** Throws 503. */
    reloadUnknown: () => reloadAfterPause(keys),
    /** Another object after each read. */
    version: (): unknown => cached.jwks,
    /** Whether there are keys to verify tokens with. */
    ready: () => cached.jwks !== undefined,
    /** When the keys were last read, in Unix milliseconds; before the first read, when this was called. */
    readAt: () => readAt,
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
