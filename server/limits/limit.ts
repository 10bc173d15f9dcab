/** The state of a key after one more request. */
export interface Taken {
  passes: boolean
  /** Points that are left in this window, as far as this process knows. */
  remaining: number
  msBeforeNext: number
}

/** Counts the requests of keys (teams, addresses) in windows that begin with a key's first request. */
export interface Limit {
  take: (key: string) => Taken | Promise<Taken>
  /** Takes a point back that `take` has counted, for what turns out not to count. */
  giveBack: (key: string) => void
}

export interface Limits {
  /** A limit of `points` in a window; limits of one name have one count. */
  open: (name: string, points: number, windowSeconds: number) => Limit
  /** Where requests are counted now. */
  store: () => 'memory' | 'redis'
  /** Calls of the store that failed or took too long. */
  failures: () => number
  close: () => Promise<void>
}
