export interface DueSubscription {
  id: string
  app: string
}

export type DueSubscriptions = ReturnType<typeof createDueSubscriptions>

/**
 * Subscriptions with due deliveries, and when that was last seen of each. The apps take turns, and so do the
 * subscriptions of each app: an app with many of them delays none but its own.
 */
export function createDueSubscriptions() {
  const known = new Map<string, { app: string; seenAt: number }>()
  /** What has waited longest for a turn comes first. */
  const byApp = new Map<string, Set<string>>()

  function moveBack(id: string, app: string) {
    const ids = byApp.get(app)!
    ids.delete(id)
    ids.add(id)
    byApp.delete(app)
    byApp.set(app, ids)
  }

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

    /** Each once, at most `max`. The one that is drawn moves behind the others, and its app behind the other apps. */
    *inTurn(max: number): Generator<DueSubscription> {
      let turns = [...byApp].map(([app, ids]) => ({ app, order: ids.values(), left: ids.size }))
      for (let drawn = 0; turns.length > 0; turns = turns.filter(({ left }) => left > 0)) {
        for (const turn of turns) {
          if (drawn++ === max) return
          turn.left--
          const id = turn.order.next().value!
          moveBack(id, turn.app)
          yield { id, app: turn.app }
        }
      }
    },

    /** Moves it behind the others too; with `seenAt`, deliveries of it were seen again. Returns when that was last. */
    moveBack(id: string, seenAt?: number): number {
      const subscription = known.get(id)!
      subscription.seenAt = seenAt ?? subscription.seenAt
      moveBack(id, subscription.app)
      return subscription.seenAt
    },
  }
}
