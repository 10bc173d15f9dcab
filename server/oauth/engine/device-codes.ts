import type { Context } from 'koa'
import type { KoaContextWithOIDC } from 'oidc-provider'
import type { Database } from '../../../prisma/client.ts'
import { bool, float, instant, json, statement, text } from '../../../prisma/pg/statement.ts'
import { inAscii } from '../../../routers/kernel/equal-texts.ts'
import { DEVICE_INTERVAL_SECONDS, EXPIRED_DEVICE_CODE_SECONDS } from '../keys/lifetimes.ts'
import type { Realm } from './realm.ts'
import { hashOfToken } from './refresh-rotation.ts'

export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

/** By which a poll may be early: what its two ways through the network differ. */
const JITTER_SECONDS = 0.5

const EARLY = `$at::float8 < coalesce((payload -> 'poll' ->> 'next')::float8, 0)`
/** RFC 8628, 3.5: each early poll adds 5 seconds. */
const INTERVAL = `(coalesce((payload -> 'poll' ->> 'interval')::float8, ${DEVICE_INTERVAL_SECONDS})
  + CASE WHEN ${EARLY} THEN 5 ELSE 0 END)`

const statements = {
  /** Each of several concurrent polls of one code, on any node, sees those before it. */
  poll: statement(
    'device_code_poll',
    `UPDATE "OauthRecord" SET payload = payload || jsonb_build_object('poll', jsonb_build_object('early', ${EARLY},
        'interval', ${INTERVAL}, 'next', $at::float8 + ${INTERVAL} - ${JITTER_SECONDS}))
      WHERE model = 'DeviceCode' AND id = $id RETURNING (payload -> 'poll' ->> 'early')::boolean AS early`,
    { id: text, at: float },
    { early: bool },
  ),
  /** One of several concurrent decisions, in any browser and on any node, succeeds. */
  decide: statement(
    'device_code_decide',
    `UPDATE "OauthRecord" SET payload = payload || $decision::jsonb, "grantId" = $decision::jsonb ->> 'grantId'
      WHERE model = 'DeviceCode' AND uid = $uid AND "consumedAt" IS NULL AND "expiresAt" > $until::timestamptz
        AND NOT payload ?| '{accountId,error}' RETURNING id`,
    { uid: text, decision: json<Decided>(), until: instant },
    { id: text },
  ),
}

/**
 * Their end, after which they are stored for a while: a device that asks is answered with expired_token (RFC 8628, 3.5), not as
 * if its code had never existed.
 */
const storedUntil = (now: number) => new Date(now + EXPIRED_DEVICE_CODE_SECONDS * 1000)

/**
 * A code's end by the machine's clock, the only one that oidc-provider knows, as far away as by the database's. Unix seconds;
 * `ends`, until which it is stored, and `now` are milliseconds.
 */
export function endByMachine(ends: number, now: number): number {
  const leftMs = ends - storedUntil(now).getTime()
  return leftMs > 0 ? Math.ceil((Date.now() + leftMs) / 1000) + 1 : 0
}

/** The letters of a code as typed, in either case, with any spaces and dashes; null if it cannot be one. */
export function parseUserCode(typed: string): string | null {
  const letters = inAscii(typed)
    .replace(/[\s\p{Pd}\p{Cf}]/gu, '')
    .toUpperCase()
  return /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/.test(letters) ? letters : null
}

/** As the device shows it. */
export const shownUserCode = (code: string) => `${code.slice(0, 4)}-${code.slice(4)}`

export interface DeviceRequest {
  client: string
  params: Record<string, unknown>
}

export type Decision =
  | { accountId: string; authTime: number | undefined; grantId: string; scope: string; resource: string }
  | { error: 'access_denied' | 'unauthorized_client'; errorDescription: string }

/** With the id of the page on which it was made; the former release stored none. */
type Decided = Decision & { page?: string }

/** A device's request by its code, and what was decided on it, until its end; null for other codes. */
export async function findDeviceCode(
  db: Database,
  code: string,
  { now, realm }: { now: number; realm: Realm },
): Promise<{ request: DeviceRequest; decided: Decided | null } | null> {
  const where = { model: 'DeviceCode', uid: hashOfToken(code), expiresAt: { gt: storedUntil(now) } }
  const row = await db.oauthRecord.findFirst({ where, select: { payload: true } })
  const { clientId, params, realm: itsRealm, ...more } = (row?.payload ?? {}) as Record<string, unknown>
  if (!row || itsRealm !== realm) return null
  const isDecided = more.accountId !== undefined || more.error !== undefined
  const decided = isDecided ? (more as unknown as Decided) : null
  return { request: { client: String(clientId), params: Object(params) }, decided }
}

/** The same until a member decides on it. */
export async function findDeviceRequest(...of: Parameters<typeof findDeviceCode>): Promise<DeviceRequest | null> {
  const found = await findDeviceCode(...of)
  return found?.decided === null ? found.request : null
}

/** False if the code has expired, or was decided on before. */
export async function decide(db: Database, code: string, decision: Decided, now: number): Promise<boolean> {
  const values = { uid: hashOfToken(code), decision, until: storedUntil(now) }
  return (await db.execute(statements.decide, values)).length > 0
}

/** Adds the interval to a device's codes, and slow_down for a poll that comes too early. True for a poll that may wait. */
export async function pacePolls(ctx: Context, db: Database, now: () => number): Promise<boolean> {
  const { oidc, status, body } = ctx as Context & Partial<KoaContextWithOIDC>
  const answer = Object(body) as Record<string, unknown>
  if (oidc?.route === 'device_authorization' && status === 200) answer.interval = DEVICE_INTERVAL_SECONDS
  if (oidc?.route !== 'token' || answer.error !== 'authorization_pending') return false
  const [poll] = await db.execute(statements.poll, {
    id: hashOfToken(String(oidc.params!.device_code)),
    at: now() / 1000,
  })
  if (!poll?.early) return true
  answer.error = 'slow_down'
  answer.error_description = 'polled too early: the interval is 5 s longer from now on'
  return false
}
