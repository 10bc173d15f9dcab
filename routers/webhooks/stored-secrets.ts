import type { Database } from '../../prisma/client.ts'
import { instant, int, statement } from '../../prisma/pg/statement.ts'
import type { Cipher } from '../kernel/cipher.ts'
import { associatedData } from '../kernel/cipher.ts'
import type { Core } from '../kernel/context.ts'
import { PORTION } from '../kernel/housekeeping.ts'
import { DAY_MS } from '../kernel/time.ts'

/** How long a replaced secret signs beside its successor. */
const FORMER_MS = DAY_MS

/** A replaced secret, encrypted, and until when it signs; both are null without one. */
export interface Former {
  formerSecret: string | null
  formerUntil: Date | null
}

/** The encrypted secrets of an app or of a subscription. */
export interface Secrets extends Former {
  secret: string | null
}

export const noFormer: Former = { formerSecret: null, formerUntil: null }

/** The associated data of the columns of both secrets. */
interface Columns {
  secret: string
  formerSecret: string
}

export const columnsOfApp = (app: string): Columns => ({
  secret: associatedData.template(app),
  formerSecret: associatedData.formerTemplate(app),
})
export const columnsOfSubscription = (subscription: string): Columns => ({
  secret: associatedData.subscription(subscription),
  formerSecret: associatedData.formerSubscription(subscription),
})

type Keys = Pick<Core, 'cipher' | 'now'>

/** The secrets that sign at `now`, decrypted. Throws when no key decrypts one of them. */
export function signingSecrets(cipher: Cipher, columns: Columns, stored: Secrets, now: number) {
  const { secret, formerSecret, formerUntil } = stored
  if (secret === null) return { secret: null, former: null }
  const isSigning = formerSecret !== null && now < formerUntil!.getTime()
  return {
    secret: cipher.decrypt(secret, columns.secret),
    former: isSigning ? cipher.decrypt(formerSecret, columns.formerSecret) : null,
  }
}

/**
 * What signs beside the secret `next` once that replaces the stored one: the stored one for 24 hours, in place of an earlier one;
 * nothing if there is none, or if no key decrypts it. Undefined if `next` is the stored one, so that nothing changes.
 */
export function formerBeside({ cipher, now }: Keys, columns: Columns, secret: string | null, next: string) {
  if (secret === null || cipher.keyIndex(secret, columns.secret) === null) return noFormer
  const before = cipher.decrypt(secret, columns.secret)
  if (before === next) return undefined
  return { formerSecret: cipher.encrypt(before, columns.formerSecret), formerUntil: new Date(now() + FORMER_MS) }
}

/** An app's secrets for a subscription. A secret is bound to its row, so the copies are encrypted again. */
export function copiedSecrets({ cipher, now }: Keys, app: string, stored: Secrets, subscription: string): Secrets {
  const { secret, former } = signingSecrets(cipher, columnsOfApp(app), stored, now())
  const columns = columnsOfSubscription(subscription)
  return {
    secret: secret && cipher.encrypt(secret, columns.secret),
    ...(former === null
      ? noFormer
      : { formerSecret: cipher.encrypt(former, columns.formerSecret), formerUntil: stored.formerUntil }),
  }
}

/** Clears former secrets that ended by `until`, at most `limit`, and returns their number. By ctid, as `removal` does. */
const clearing = (table: 'App' | 'Subscription') =>
  statement(
    `clear_former_${table}`,
    `WITH cleared AS (UPDATE "${table}" SET "formerSecret" = NULL, "formerUntil" = NULL WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM "${table}" WHERE "formerUntil" <= $until::timestamptz LIMIT $limit::int8
        FOR NO KEY UPDATE SKIP LOCKED)) RETURNING 1)
      SELECT count(*) AS cleared FROM cleared`,
    { until: instant, limit: int },
    { cleared: int },
  )

const clearInApps = clearing('App')
const clearInSubscriptions = clearing('Subscription')

/** Clears former secrets that no longer sign, at most `limit`, and returns their number. */
export async function clearExpiredSecrets(db: Database, now: number, limit = PORTION): Promise<number> {
  const [apps] = await db.execute(clearInApps, { until: now, limit })
  const [subscriptions] = await db.execute(clearInSubscriptions, { until: now, limit: limit - apps!.cleared })
  return apps!.cleared + subscriptions!.cleared
}
