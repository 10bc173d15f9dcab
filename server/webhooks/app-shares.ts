import { MAX_BODY_BYTES } from '../../routers/webhooks/events.ts'

/** Limits of what one worker has in flight, each shared among apps. */
const LIMITS = {
  /** Deliveries. */
  total: 2_048,
  /** For new and failing subscriptions together, so that healthy ones always find slots. */
  newOrFailing: 1_536,
  /** For failing subscriptions, so that new ones find slots as well. */
  failing: 1_024,
  /** The bytes of bodies. */
  bytes: 64 * 1024 * 1024,
}

export type SharedLimits = typeof LIMITS

export type Health = 'new' | 'healthy' | 'failing'

interface Held {
  app: string
  health: Health
  count: number
  bytes: number
}

export type AppShares = ReturnType<typeof createAppShares>

const none = { total: 0, newOrFailing: 0, failing: 0, bytes: 0 }

/**
 * Shares the limits among apps. An app may use at most as much as it leaves free: alone it gets half of each limit, and it cannot
 * exhaust what the others need.
 */
export function createAppShares(given: Partial<SharedLimits> = {}) {
  const limits: SharedLimits = { ...LIMITS, ...given }
  const used = { ...none }
  const heldBy = new Map<string, SharedLimits>()

  function change({ app, health, count, bytes }: Held, sign: 1 | -1) {
    const held = heldBy.get(app) ?? { ...none }
    for (const counts of [used, held]) {
      counts.total += sign * count
      if (health !== 'healthy') counts.newOrFailing += sign * count
      if (health === 'failing') counts.failing += sign * count
      counts.bytes += sign * bytes
    }
    // Entries stay when nothing is in flight: 2 MB for 10,000 apps.
    heldBy.set(app, held)
  }

  const capacity = (of: keyof SharedLimits, held: SharedLimits) =>
    Math.max(0, Math.ceil((limits[of] - used[of] - held[of]) / 2))

  return {
    inFlight: () => used.total,

    /** How many more an app may have in flight, regardless of health and bodies. */
    slots: (app: string) => capacity('total', heldBy.get(app) ?? none),

    /** How many more deliveries of this health the app may have in flight, with bodies of the maximum size. */
    capacity(app: string, health: Health): number {
      const held = heldBy.get(app) ?? none
      const slots = Math.min(capacity('total', held), Math.floor(capacity('bytes', held) / MAX_BODY_BYTES))
      if (health === 'healthy' || slots === 0) return slots
      const limit = Math.min(slots, capacity('newOrFailing', held))
      return health === 'new' ? limit : Math.min(limit, capacity('failing', held))
    },

    take: (held: Held) => change(held, 1),
    give: (held: Held) => change(held, -1),
  }
}
