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
