import { MAX_BODY_BYTES } from '../../routers/webhooks/events.ts'

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

const none = { total: 0, newOrFailing: 0, failing: 0, bytes: 0 }

/**
 * Shares what may be in flight among apps. An app may hold as much as it leaves free: alone it gets half of each limit,
 * and it cannot use up what the others need.
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
    // Stays when nothing is in flight any more: 2 MB for 10,000 apps.
    heldBy.set(app, held)
  }

  const capacity = (of: keyof SharedLimits, held: SharedLimits) =>
    Math.max(0, Math.ceil((limits[of] - used[of] - held[of]) / 2))

  return {
    /** Deliveries in flight. */
    inFlight: () => used.total,

    /** How many more an app may have in flight, whatever their health and bodies. */
    slots: (app: string) => capacity('total', heldBy.get(app) ?? none),

    /** How many more deliveries of this health the app may have in flight. Their bodies are as large as they can be. */
    capacity(app: string, health: Health): number {
      const held = heldBy.get(app) ?? none
      const slots = Math.min(capacity('total', held), Math.floor(capacity('bytes', held) / MAX_BODY_BYTES))
      if (health === 'healthy' || slots === 0) return slots
      const ofOthers = Math.min(slots, capacity('newOrFailing', held))
      return health === 'new' ? ofOthers : Math.min(ofOthers, capacity('failing', held))
    },

    take: (held: Held) => change(held, 1),
    give: (held: Held) => change(held, -1),
  }
}
