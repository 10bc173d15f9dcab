import { z } from 'zod'
import { CONSENT_MS } from '../../kernel/access.ts'
import type { Context } from '../../kernel/context.ts'

export const holdings = z.object({
  clients: z.int(),
  consents: z.int().meta({ description: 'Consents in force' }),
  stores: z.int().meta({ description: 'Clubs in which something is stored' }),
  bytes: z.int().meta({ description: 'Bytes of the stored values' }),
  subscriptions: z.int().meta({ description: "Webhook subscriptions, without the app's own for tests" }),
})

/** What ends with an app, or with all apps and clients of a team. */
export async function holdingsOf({ core: { db, now } }: Context, of: { app: string } | { team: string }) {
  const client = 'app' in of ? { appId: of.app } : { teamId: of.team }
  const app = 'app' in of ? { id: of.app } : { teamId: of.team }
  const createdAt = { gt: new Date(now() - CONSENT_MS) }
  const [clients, consents, stored, subscriptions] = await Promise.all([
    db.client.count({ where: client }),
    db.consent.count({ where: { client, withdrawnAt: null, createdAt } }),
    db.storageUsage.aggregate({ where: { app, bytes: { gt: 0 } }, _count: true, _sum: { bytes: true } }),
    db.subscription.count({ where: { app, test: false, endedAt: null } }),
  ])
  return { clients, consents, subscriptions, stores: stored._count, bytes: Number(stored._sum.bytes ?? 0) }
}
