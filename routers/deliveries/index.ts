import { z } from 'zod'
import type { Field } from '../../prisma/pg/execute.ts'
import { isPostgresText } from '../access.ts'
import { providerOf } from '../apps.ts'
import type { Context } from '../context.ts'
import { retryingDeadlocks } from '../database-errors.ts'
import { errors, withError } from '../errors.ts'
import { page } from '../page.ts'
import { toUnix } from '../time.ts'
import { internal, providerPlatform, router } from '../trpc.ts'

const state = z.enum(['pending', 'delivered', 'failed'], { error: 'state is pending, delivered or failed.' })

const delivery = z.object({
  id: z.string(),
  event: z.string(),
  subscription: z.string(),
  state,
  attempts: z.int().meta({ description: 'Tries whose outcome is known' }),
  lastStatus: z.int().nullable().meta({ description: 'Of the last answer; null when there was none' }),
  lastError: z.string().nullable(),
  nextAttemptAt: z.int().nullable().meta({ description: 'Unix seconds; null when nothing is to be tried' }),
})

/** An id to look for: what cannot be one is a mistake. */
function idOf(name: string) {
  const invalid = { error: `${name} is 1 to 255 visible ASCII characters.` }
  return z
    .string(invalid)
    .regex(/^[!-~]{1,255}$/, invalid)
    .optional()
}

/** The newest first. */
const list = internal('ntf.events:write', providerPlatform, { summary: 'Deliveries and how they went' })
  .input(z.object({ event: idOf('event'), subscription: idOf('subscription'), state: state.optional(), ...page }))
  .output(z.object({ items: z.array(delivery), total: z.int() }))
  .query(async ({ ctx, input: { event, subscription, state, limit, offset } }) => {
    const where = {
      event: { app: { providerId: providerOf(ctx) } },
      ...(event !== undefined && { eventId: event }),
      ...(subscription !== undefined && { subscriptionId: subscription }),
      ...(state !== undefined && { state }),
    }
    const [rows, total] = await ctx.db.$transaction(
      [
        ctx.db.delivery.findMany({
          where,
          orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
          take: limit,
          skip: offset,
          omit: { appId: true, lastAnswer: true, lease: true, leasedUntil: true, createdAt: true, finishedAt: true },
        }),
        ctx.db.delivery.count({ where }),
      ],
      { isolationLevel: 'RepeatableRead' },
    )
    const items = rows.map(({ eventId, subscriptionId, nextAttemptAt, ...row }) => ({
      ...row,
      event: eventId,
      subscription: subscriptionId,
      nextAttemptAt: nextAttemptAt && toUnix(nextAttemptAt),
    }))
    return { items, total }
  })

const statements = {
  /**
   * The subscription is held first, so that it ends before this or after it. Whoever tries a pending one goes on; a
   * failed one starts anew, and what is still on its way for it is not to be written back.
   */
  retry: {
    name: 'delivery_retry',
    text: `WITH receiver AS (
        SELECT subscription.id FROM "Subscription" subscription JOIN "App" ON "App".id = subscription."appId"
        WHERE subscription.id = (SELECT "subscriptionId" FROM "Delivery" WHERE id = $1)
          AND "App"."providerId" = $2 AND subscription."endedAt" IS NULL FOR SHARE OF subscription
      )
      UPDATE "Delivery" delivery SET state = 'pending',
        attempts = CASE state WHEN 'pending' THEN attempts ELSE 0 END,
        "nextAttemptAt" = least("nextAttemptAt", $3::timestamptz),
        lease = CASE state WHEN 'pending' THEN lease END,
        "leasedUntil" = CASE state WHEN 'pending' THEN "leasedUntil" END,
        "finishedAt" = NULL
      FROM receiver WHERE delivery.id = $1 AND "subscriptionId" = receiver.id AND state <> 'delivered'
      RETURNING delivery.id, "eventId", "subscriptionId", state, attempts, "lastStatus", "lastError",
        floor(extract(epoch FROM "nextAttemptAt"))`,
  },
}

/** Makes it due now, and gives a failed one all of its tries again. */
const retry = internal('ntf.events:write', providerPlatform, {
  summary: 'Tries a delivery again, now',
  fails: ['deliveryUnknown', 'alreadyDelivered', 'subscriptionEnded'],
})
  .input(z.object({ id: z.string().refine(isPostgresText, withError('deliveryUnknown')) }))
  .output(delivery)
  .mutation(async ({ ctx, input: { id } }) => {
    const values = [id, providerOf(ctx), new Date(ctx.now()).toISOString()]
    const [row] = await retryingDeadlocks(() => ctx.db.execute(statements.retry, values))
    if (!row) throw await refusal(ctx, id)
    return itemOf(row)
  })

function itemOf([id, event, subscription, state, attempts, lastStatus, lastError, nextAttemptAt]: Field[]) {
  return {
    id: id!,
    event: event!,
    subscription: subscription!,
    state: state as z.output<typeof delivery>['state'],
    attempts: Number(attempts),
    lastStatus: lastStatus === null ? null : Number(lastStatus),
    lastError: lastError ?? null,
    nextAttemptAt: Number(nextAttemptAt),
  }
}

/** What was found delivered or ended stays so. */
async function refusal(ctx: Context, id: string) {
  const where = { id, event: { app: { providerId: providerOf(ctx) } } }
  const found = await ctx.db.delivery.findFirst({ where, select: { state: true } })
  if (!found) return errors.deliveryUnknown()
  return found.state === 'delivered' ? errors.alreadyDelivered() : errors.subscriptionEnded()
}

export const deliveries = router({ list, retry })
