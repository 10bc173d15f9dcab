export interface DueSubscription {
  id: string
  app: string
  /** A delivery of the subscription is being retried manually. */
  retried?: boolean
}

export type DueSubscriptions = ReturnType<typeof createDueSubscriptions>

/**
 * Subscriptions with due deliveries, and when those were last seen. Apps are served round-robin, and so are each app's
 * subscriptions: an app with many of them delays only itself.
 */
export function createDueSubscriptions() {
  const known = new Map<string, { app: string; seenAt: number }>()
  /** Longest wait first. */
  const byApp = new Map<string, Set<string>>()

  return {
    size: () => known.size,
    has: (id: string) => known.has(id),

    add({ id, app }: DueSubscription, seenAt: number) {
      known.set(id, { app, seenAt })
      const ids = byApp.get(app)
      if (ids) ids.add(id)
      else byApp.set(app, new Set([id]))
    },

    remove(id: string) {
      const { app } = known.get(id)!
      known.delete(id)
      const ids = byApp.get(app)!
      ids.delete(id)
      if (ids.size === 0) byApp.delete(app)
    },

    clear() {
      known.clear()
      byApp.clear()
    },

    /** Yields each once, at most `max`. A drawn subscription moves behind the others, and its app behind the other apps. */
    *inTurn(max: number): Generator<DueSubscription> {
      let turns = [...byApp].map(([app, ids]) => ({ app, ids, order: ids.values(), left: ids.size }))
      let last = -1
      try {
        for (let drawn = 0; turns.length > 0; turns = turns.filter(({ left }) => left > 0)) {
          for (const [index, { app, ids, order }] of turns.entries()) {
            if (drawn++ === max) return
            last = index
            turns[index]!.left--
            const id = order.next().value!
            ids.delete(id)
            ids.add(id)
            yield { id, app }
          }
        }
      } finally {
        for (const { app } of turns.slice(0, last + 1)) moveBack(byApp, app)
      }
    },

    /** Also moves it behind the others; with `seenAt`, its deliveries were seen again. Returns when they were last seen. */
    moveBack(id: string, seenAt?: number): number {
      const subscription = known.get(id)!
      subscription.seenAt = seenAt ?? subscription.seenAt
      const ids = byApp.get(subscription.app)!
      ids.delete(id)
      ids.add(id)
      moveBack(byApp, subscription.app)
      return subscription.seenAt
    },
  }
}

function moveBack<V>(map: Map<string, V>, key: string) {
  const value = map.get(key)
  if (value === undefined) return
  map.delete(key)
  map.set(key, value)
}
