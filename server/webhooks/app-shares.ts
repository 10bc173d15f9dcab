import { MAX_BODY_BYTES } from '../../routers/events.ts'

/** What is in flight at once, in one worker. Apps share each of these. */
const LIMITS = {
  /** Deliveries. */
  total: 2_048,
  /** Of new and failing subscriptions together: healthy ones always find slots. */
  newOrFailing: 1_536,
  /** Of failing subscriptions: new ones find slots as well. */
  failing: 1_024,
  /** Of bodies. */
  bytes: 64 * 1024 * 1024,
}

export type SharedLimits = typeof LIMITS

/** Of a subscription. */
export type Health = 'new' | 'healthy' | 'failing'

/** Deliveries of one app. */
interface Held {
  app: string
  health: Health
  count: number
  bytes: number
}

export type AppShares = ReturnType<typeof createAppShares>

/**
 * Shares what may be in flight among apps. An app may hold as much as it leaves free: alone it gets half of each limit,
 * and it cannot use up what the others need.
 */
export function createAppShares(limits: Partial<SharedLimits> = {}) {
  const { total, newOrFailing, failing, bytes } = { ...LIMITS, ...limits }
  const [all, tried, failed, bodies] = [total, newOrFailing, failing, bytes].map(share) as [Share, Share, Share, Share]
  const slots: Record<Health, Share[]> = { healthy: [all], new: [all, tried], failing: [all, tried, failed] }

  return {
    /** Deliveries in flight. */
    inFlight: () => total - all.free(),

    /** How many more an app may have in flight, whatever their health and bodies. */
    slots: (app: string) => all.room(app),

    /** How many more deliveries of this health the app may have in flight. Their bodies are as large as they can be. */
    room: (app: string, health: Health) =>
      Math.min(...slots[health].map(({ room }) => room(app)), Math.floor(bodies.room(app) / MAX_BODY_BYTES)),

    take({ app, health, count, bytes }: Held) {
      for (const share of slots[health]) share.take(app, count)
      bodies.take(app, bytes)
    },

    give({ app, health, count, bytes }: Held) {
      for (const share of slots[health]) share.take(app, -count)
      bodies.take(app, -bytes)
    },
  }
}

type Share = ReturnType<typeof share>

/** Of one limit. */
function share(limit: number) {
  const held = new Map<string, number>()
  let free = limit
  return {
    free: () => free,
    room: (app: string) => Math.max(0, Math.ceil((free - (held.get(app) ?? 0)) / 2)),
    take(app: string, amount: number) {
      const now = (held.get(app) ?? 0) + amount
      free -= amount
      if (now > 0) held.set(app, now)
      else held.delete(app)
    },
  }
}
