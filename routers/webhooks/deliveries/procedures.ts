import { z } from 'zod'
import { isPostgresText } from '../../kernel/access.ts'
import type { Context } from '../../kernel/context.ts'
import { retryingDeadlocks } from '../../kernel/database-errors.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors, withError } from '../../kernel/errors.ts'
import { page } from '../../kernel/page.ts'
import { providerPlatform } from '../../kernel/policies.ts'
import { toUnix } from '../../kernel/time.ts'
import { router } from '../../kernel/trpc.ts'
import { deliveryStates, retryStatement } from './retry.ts'

const state = z.enum(deliveryStates, { error: 'state is pending, delivered or failed.' })

const delivery = z.object({
  id: z.string(),
  event: z.string(),
  subscription: z.string(),
  state,
  attempts: z.int().meta({ description: 'Finished attempts' }),
  lastStatus: z.int().nullable().meta({ description: 'Status of the last response; null without one' }),
  lastError: z.string().nullable(),
  nextAttemptAt: z.int().nullable().meta({ description: 'Unix seconds; null when no attempt is due' }),
})

/** An optional id to filter by. */
function idSchema(name: string) {
  const invalid = { error: `${name} is 1 to 255 visible ASCII characters.` }
  return z
    .string(invalid)
    .regex(/^[!-~]{1,255}$/, invalid)
    .optional()
}

/** A page's total is exact up to here: of millions, the count would take longer than a statement may. */
const MAX_COUNTED = 10_000

/** Newest first. */
const list = internal('ntf.events:write', providerPlatform, { summary: 'Deliveries and their results' })
  .input(
    z.object({ event: idSchema('event'), subscription: idSchema('subscription'), state: state.optional(), ...page }),
  )
  .output(z.object({ items: z.array(delivery), total: z.int().meta({ description: `${MAX_COUNTED + 1} for more` }) }))
  .query(async ({ ctx: { core, provider }, input: { event, subscription, state, limit, offset } }) => {
    const where = {
      event: { app: { providerId: provider } },
      ...(event !== undefined && { eventId: event }),
      ...(subscription !== undefined && { subscriptionId: subscription }),
      ...(state !== undefined && { state }),
    }
    const { rows, total } = await core.db.$transaction(
      async (tx) => ({
        rows: await tx.delivery.findMany({
          where,
          orderBy: [{ createdAt: 'desc' }, { id: 'asc' }],
          take: limit,
          skip: offset,
          omit: { appId: true, lastAnswer: true, lease: true, leasedUntil: true, finishedAt: true },
        }),
        total: await tx.delivery.count({ where, take: MAX_COUNTED + 1 }),
      }),
      { isolationLevel: 'RepeatableRead' },
    )
    const items = rows.map(({ eventId, subscriptionId, nextAttemptAt, lastAttemptAt, createdAt, ...row }) => ({
      ...row,
      event: eventId,
      subscription: subscriptionId,
      // As `dueAt` has it.
      nextAttemptAt: nextAttemptAt && Math.max(...[nextAttemptAt, lastAttemptAt ?? createdAt, createdAt].map(toUnix)),
    }))
    return { items, total }
  })

const retryOfProvider = retryStatement('delivery_retry', '"App"."providerId" = $owner')

/** Makes a delivery due at once; a failed one starts again with all of its attempts. */
const retry = internal('ntf.events:write', providerPlatform, {
  summary: 'Retries a delivery now',
  fails: ['deliveryUnknown', 'alreadyDelivered', 'subscriptionEnded'],
})
  .input(z.object({ id: z.string().refine(isPostgresText, withError('deliveryUnknown')) }))
  .output(delivery)
  .mutation(async ({ ctx, input: { id } }) => {
    const [row] = await retryingDeadlocks(() => ctx.core.db.execute(retryOfProvider, { id, owner: ctx.provider }))
    if (!row) throw await refusal(ctx, id)
    ctx.core.due.wake()
    return row
  })

/** Neither `delivered` nor `ended` is ever undone, so this reads why nothing was updated. */
async function refusal({ core, provider }: Context & { provider: string }, id: string) {
  const where = { id, event: { app: { providerId: provider } } }
  const found = await core.db.delivery.findFirst({ where, select: { state: true } })
  if (!found) return errors.deliveryUnknown()
  return found.state === 'delivered' ? errors.alreadyDelivered() : errors.subscriptionEnded()
}

export const deliveries = router({ list, retry })
