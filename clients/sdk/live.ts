import type { ReadChanges } from './changes.ts'
import { WAIT_SECONDS } from './changes.ts'
import type { Entry } from './entry.ts'
import { ApiError, SignInNeeded } from './errors.ts'
import { PlatformLacks } from './platform.ts'
import type { Following } from './turn.ts'
import { beginTurn } from './turn.ts'

export interface Live<Value> {
  /** The entries by key, in its order. After each change it is another map. */
  readonly entries: ReadonlyMap<string, Entry<Value>>
  /**
   * `loading` until all entries have been read, then `current`; `offline` while the service cannot be reached; `ended` after a
   * refusal, as of a sign-in that has ended.
   */
  readonly state: 'loading' | 'current' | 'offline' | 'ended'
  /** Why it is `offline` or `ended`. */
  readonly error: unknown
  /**
   * Calls `listener` after each change of the three above. Returns a function that ends this. The collection is followed while
   * somebody listens.
   */
  subscribe(listener: () => void): () => void
  /** `entries`, for React's `useSyncExternalStore(live.subscribe, live.getSnapshot)`. */
  getSnapshot(): ReadonlyMap<string, Entry<Value>>
}

const MAX_PAUSE_MS = 30_000

/** Refusals that stay. The service's time-outs, limits and failures pass, as does what a proxy answers, without an id. */
const isFinal = (error: unknown) =>
  error instanceof PlatformLacks ||
  error instanceof SignInNeeded ||
  (error instanceof ApiError && error.id !== undefined && error.status < 500 && ![408, 429].includes(error.status))

/** The changes since are no longer stored, or another member has signed in. */
const isPast = (error: unknown) =>
  error instanceof ApiError && ['cursorExpired', 'cursorInvalid'].includes(error.id ?? '')

export function createLive<Value>(read: ReadChanges<Value>): Live<Value> {
  const listeners = new Set<() => void>()
  let [entries, next] = [new Map<string, Entry<Value>>(), new Map<string, Entry<Value>>()]
  let state: Live<Value>['state'] = 'loading'
  let [error, cursor, following]: [unknown, string | undefined, Following | undefined] = [
    undefined,
    undefined,
    undefined,
  ]
  // Whether `entries` has all that `next` has.
  let [isMore, isShown] = [true, true]

  const become = (now: typeof state, reason?: unknown) => {
    ;[state, error] = [now, reason]
    for (const listener of [...listeners]) listener()
  }

  /** Shows what has been read once there is no more: never a part of the entries. */
  async function readOn(following: Following, signal: AbortSignal) {
    const found = await read({ since: cursor, ...(!isMore && state === 'current' && { wait: WAIT_SECONDS }), signal })
    // A fetch that knows no signals goes on.
    if (following.isEnded) return
    for (const item of found.items) {
      isShown = false
      if ('deleted' in item) next.delete(item.key)
      else next.set(item.key, item)
    }
    ;({ cursor, more: isMore } = found)
    if (isMore || (isShown && state === 'current')) return
    isShown = true
    entries = new Map([...next].sort(([a], [b]) => (a < b ? -1 : 1)))
    become('current')
  }

  async function follow(following: Following) {
    for (let failures = 0; !following.isEnded; ) {
      const turn = beginTurn(following)
      try {
        await readOn(following, turn.signal)
        failures = 0
      } catch (reason) {
        if (following.isEnded) return
        if (isPast(reason)) {
          // From the beginning.
          ;[cursor, isMore, isShown, next] = [undefined, true, false, new Map()]
        } else if (isFinal(reason)) {
          return become('ended', reason)
        } else if (!turn.isWoken()) {
          become('offline', reason)
          await turn.rest(pauseMs(reason, failures++))
        }
      } finally {
        turn.end()
      }
    }
  }

  function begin(): Following {
    const begun: Following = {
      isEnded: false,
      end() {
        begun.isEnded = true
      },
    }
    // As of a listener that throws.
    const fail = (reason: unknown) => {
      if (begun.isEnded) return
      ;[state, error] = ['ended', reason]
      for (const listener of [...listeners]) {
        try {
          listener()
        } catch {}
      }
    }
    Promise.resolve(begun).then(follow).catch(fail)
    return begun
  }

  return {
    get entries() {
      return entries
    },
    get state() {
      return state
    },
    get error() {
      return error
    },
    getSnapshot: () => entries,
    subscribe(listener) {
      // The same function may be given twice.
      const own = () => listener()
      listeners.add(own)
      following ??= begin()
      return () => {
        if (!listeners.delete(own) || listeners.size > 0) return
        following?.end()
        following = undefined
      }
    },
  }
}

/** As long as the service says; else longer with each failure. */
function pauseMs(reason: unknown, failures: number): number {
  const said = reason instanceof ApiError ? reason.retryAfter : undefined
  return (said ?? 0) * 1_000 + Math.random() * (said ? 1_000 : Math.min(MAX_PAUSE_MS, 1_000 * 2 ** failures))
}
