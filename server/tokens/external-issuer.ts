import type { JSONWebKeySet, JWTVerifyGetKey } from 'jose'
import { createLocalJWKSet, errors as jose } from 'jose'
import type { Logger } from 'pino'
import type { Database } from '../../prisma/client.ts'
import { errors } from '../../routers/errors.ts'
import type { TokenForm } from './external-claims.ts'
import { outsidePrincipal } from './external-claims.ts'
import { jwksCache } from './jwks-cache.ts'
import { readKeySet } from './jwks-discovery.ts'
import type { TokenRules } from './verify.ts'

export interface ExternalIssuer extends TokenForm {
  issuer: string
  /** Where its keys are; undefined: where its metadata says. */
  jwksUrl: string | undefined
}

/** How often the keys are read. */
export const PACE = {
  reloadMs: 5 * 60_000,
  /** For so long an issuer that did not answer is left alone. */
  retryMs: 5_000,
  /** So often at most tokens with unknown keys make us ask. */
  cooldownMs: 30_000,
}

const ALARM_MS = 3_600_000

interface Parts {
  db: Database
  now: () => number
  log: Logger
  pace?: typeof PACE
}

/**
 * The rules of an outside issuer's tokens. Its keys are read in the background and kept, so that those that are known go
 * on working while it is down. A token with an unknown key is 401 when the issuer does not have it, and 503 when the
 * issuer cannot say, as a client throws a refused token away.
 */
export async function openExternalIssuer(settings: ExternalIssuer, { db, now, log, pace = PACE }: Parts) {
  const { issuer, jwksUrl, audiences } = settings
  const kept = jwksCache(db, [issuer, jwksUrl])
  let known: { text: string; find: JWTVerifyGetKey } | null = null
  let failure: { at: number; cause: unknown; alarmAt: number } | null = null
  let loading: Promise<void> | null = null
  let askedAt = -Infinity
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const use = (set: JSONWebKeySet) => {
    const find = createLocalJWKSet(set)
    const text = JSON.stringify(set)
    if (text !== known?.text) known = { text, find }
  }

  const read = async () => {
    try {
      const set = await readKeySet(issuer, jwksUrl)
      use(set)
      if (failure) log.info('the keys of TOKEN_ISSUER can be read again')
      failure = null
      if (!closed) kept.save(set).catch((error) => log.warn({ err: error }, 'the keys of TOKEN_ISSUER were not kept'))
    } catch (cause) {
      const at = now()
      const alarmAt = failure?.alarmAt ?? at + ALARM_MS
      if (!failure)
        log.warn({ err: cause }, `the keys of TOKEN_ISSUER cannot be read; those that are known go on working`)
      else if (at >= alarmAt) log.error({ err: cause }, 'the keys of TOKEN_ISSUER have not been read for an hour')
      failure = { at, cause, alarmAt: at >= alarmAt ? at + ALARM_MS : alarmAt }
      throw cause
    }
  }
  const load = () => {
    loading ??= read().finally(() => {
      loading = null
    })
    return loading
  }

  /** Asks the issuer for a key that is not known; however many tokens name such keys, it hardly notices. */
  const ask = async () => {
    if (!loading) {
      if (failure && now() < failure.at + pace.retryMs) throw errors.unavailable(failure.cause)
      if (known && !failure && now() < askedAt + pace.cooldownMs) return
      askedAt = now()
    }
    await load().catch((cause) => {
      throw errors.unavailable(cause)
    })
  }

  const keys: JWTVerifyGetKey = async (header, token) => {
    if (!known) await ask()
    try {
      return await known!.find(header, token)
    } catch (error) {
      if (!(error instanceof jose.JWKSNoMatchingKey)) throw error
      await ask()
      return known!.find(header, token)
    }
  }

  const loadLater = () => {
    const jitter = 0.9 + Math.random() * 0.2
    timer = setTimeout(
      async () => {
        await load().catch(() => {})
        if (!closed) loadLater()
      },
      (failure ? pace.retryMs : pace.reloadMs) * jitter,
    ).unref()
  }

  await load().catch(async () => {
    const set = await kept.read()
    if (set) use(set)
  })
  loadLater()

  const rules: TokenRules = {
    keys,
    issuer,
    audience: Object.values(audiences),
    principalOf: outsidePrincipal(settings),
    edition: () => known,
  }
  return {
    rules,
    /** Whether there is a key to verify with. */
    ready: () => known !== null,
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
