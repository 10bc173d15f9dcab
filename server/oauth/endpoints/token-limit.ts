import { createHash } from 'node:crypto'
import type { Adapter } from 'oidc-provider'
import { retryAfterSeconds } from '../../../routers/kernel/time.ts'
import { toNetwork } from '../../http/client-address.ts'
import { JSON_TYPE } from '../../http/send.ts'
import type { StepContext } from '../../http/state.ts'
import type { Limits } from '../../limits/limit.ts'
import { validSecret } from '../engine/client-secrets.ts'
import { parseBasicHeader } from './basic-header.ts'
import { MAX_BODY_BYTES, peekBody } from './token-body.ts'

/** Per minute and address (IPv6: its /64). A failed request takes 5 ms: 60 are 0.5 % of a core. */
export const TOKEN_FAILURES = 60
const WINDOW_SECONDS = 60

interface Options {
  storage: (model: string) => Adapter
  now: () => number
  failures: number
  limits: Limits
}

/**
 * Limits failed requests for tokens, which guess codes, refresh tokens or secrets. An address above the limit gets 429, except
 * for requests with an existing credential: users who share its address with an attacker notice nothing. Such a request counts
 * against its credential.
 */
export function tokenLimit({ storage, now, failures, limits }: Options) {
  const limit = limits.open('token-failures', failures, WINDOW_SECONDS)
  /** Null, or the milliseconds to wait. Counted before the request, so that concurrent requests count as well. */
  const takeAttempt = async (key: string) => {
    const { passes, msBeforeNext } = await limit.take(key)
    return passes ? null : msBeforeNext
  }

  return async (ctx: StepContext, respond: () => Promise<void>): Promise<void> => {
    let key = toNetwork(ctx.state.clientAddress ?? '')
    let wait = await takeAttempt(key)
    if (wait !== null) {
      const credential = await findCredential(ctx, storage, now())
      if (credential !== null) {
        key = createHash('sha256').update(credential).digest('base64url')
        wait = await takeAttempt(key)
      }
    }
    if (wait !== null) return tooMany(ctx, wait)
    await respond()
    const { statusCode } = ctx.res
    if (statusCode < 400 || statusCode >= 500 || ctx.state.waits) limit.giveBack(key)
  }
}

/** RFC 6585, in the form of RFC 6749. */
export function tooMany(ctx: StepContext, waitMs: number, subject = 'failed requests') {
  const seconds = retryAfterSeconds(waitMs)
  ctx.status = 429
  ctx.set({ 'Retry-After': String(seconds), 'Cache-Control': 'no-store' })
  ctx.type = JSON_TYPE
  const error_description = `too many ${subject}; try again in ${seconds} s`
  ctx.body = JSON.stringify({ error: 'temporarily_unavailable', error_description })
}

/** The request's code, device code, refresh token or client secret if it exists, else null. The rest is checked later. */
async function findCredential(ctx: StepContext, storage: Options['storage'], now: number): Promise<string | null> {
  const body = await peekBody(ctx.req, MAX_BODY_BYTES)
  if (!body) return null
  const form = new URLSearchParams(body.toString())
  for (const [model, id] of [
    ['AuthorizationCode', form.get('code')],
    ['DeviceCode', form.get('device_code')],
    ['RefreshToken', form.get('refresh_token') ?? form.get('token')],
  ] as const) {
    if (id !== null && (await storage(model).find(id))) return id
  }
  const { id, secret } = readSecret(ctx, form)
  const client = id && secret ? await storage('Client').find(id) : undefined
  return (client && validSecret(client, secret!, now)?.hash) ?? null
}

/** A client's id and secret, from the header or the body. */
const readSecret = (ctx: StepContext, form: URLSearchParams) =>
  parseBasicHeader(ctx.get('authorization')) ?? { id: form.get('client_id'), secret: form.get('client_secret') }
