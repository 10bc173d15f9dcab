/** Counts a sender's requests in the last minute, which limits the work of a flood to a minute. False above the limit. */
export function requestLimit(limits: Limits, name: string, perMinute: number): (sender: string) => Promise<boolean> {
  const limit = limits.open(name, perMinute, 60)
  return async (sender) => (await limit.take(sender)).passes
}

export interface Taken {
  passes: boolean
  /** Points left in this window, as far as this process knows. */
  remaining: number
  msBeforeNext: number
}

/** Counts requests per key (team, address) in windows that begin with the key's first request. */
export interface Limit {
  take: (key: string) => Taken | Promise<Taken>
  /** Returns a point that `take` has counted for a request that turns out not to count. */
  giveBack: (key: string) => void
}

export interface Limits {
  /** Limits of the same name share one count. */
  open: (name: string, points: number, windowSeconds: number) => Limit
  store: () => 'memory' | 'redis'
  failures: () => number
  close: () => Promise<void>
}

interface Window {
  ends: number
  /** Its count is not known yet. */
  asking?: boolean
}

/**
 * Removes two ended windows at most, one more than a request adds: removing all keys of a flood at once would block the event loop.
 * `windows` are in the order of their end.
 */
export function removeEnded(windows: Map<string, Window>, now: number) {
  let left = 2
  for (const [key, { ends, asking }] of windows) {
    if (left-- === 0 || now < ends || asking) return
    windows.delete(key)
  }
}
