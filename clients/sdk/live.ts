import type { ReadChanges } from './changes.ts'
import { WAIT_SECONDS } from './changes.ts'
import type { Entry } from './entry.ts'
import { ApiError } from './errors.ts'
import { page } from './page.ts'
import { pause } from './pause.ts'

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

/** A request that is silent for longer has lost its connection. */
const SILENT_MS = (WAIT_SECONDS + 10) * 1_000
const MAX_PAUSE_MS = 30_000
const EVENTS = ['online', 'offline', 'visibilitychange']

/** Refusals that stay. The service's time-outs, limits and failures pass. */
const isFinal = (error: unknown) =>
  error instanceof ApiError && error.status < 500 && ![408, 410, 429].includes(error.status)

/** The changes since are no longer stored, or another member has signed in. */
const isPast = (error: unknown) => error instanceof ApiError && (error.status === 410 || error.id === 'cursorInvalid')

export function liveOf<Value>(read: ReadChanges<Value>): Live<Value> {
  const listeners = new Set<() => void>()
  let [entries, next] = [new Map<string, Entry<Value>>(), new Map<string, Entry<Value>>()]
  let state: Live<Value>['state'] = 'loading'
  let [error, cursor, following]: [unknown, string | undefined, AbortController | undefined] = [
    undefined,
    undefined,
    undefined,
  ]
  let isMore = true

  const become = (now: typeof state, reason?: unknown) => {
    ;[state, error] = [now, reason]
    for (const listener of [...listeners]) listener()
  }

  /** Shows what has been read once there is no more: never a part of the entries. */
  async function readOn(signal: AbortSignal) {
    const found = await read({ since: cursor, ...(!isMore && state === 'current' && { wait: WAIT_SECONDS }), signal })
    for (const item of found.items) {
      if ('deleted' in item) next.delete(item.key)
      else next.set(item.key, item)
    }
    const isSame = found.items.length === 0 && state === 'current'
    ;({ cursor, more: isMore } = found)
    if (isMore || isSame) return
    entries = new Map([...next].sort(([a], [b]) => (a < b ? -1 : 1)))
    become('current')
  }

  async function follow({ signal }: AbortController) {
    for (let failures = 0; !signal.aborted; ) {
      const awake = wakening(signal)
      try {
        await readOn(AbortSignal.any([awake.signal, AbortSignal.timeout(SILENT_MS)]))
        failures = 0
      } catch (reason) {
        if (signal.aborted) return
        if (isPast(reason)) {
          // From the beginning.
          ;[cursor, isMore, next] = [undefined, true, new Map()]
        } else if (isFinal(reason)) {
          return become('ended', reason)
        } else if (!awake.signal.aborted) {
          become('offline', reason)
          await pause(Math.random() * Math.min(MAX_PAUSE_MS, 1_000 * 2 ** failures++), awake.signal).catch(() => {})
        }
      } finally {
        awake.end()
      }
    }
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
      if (!following) {
        following = new AbortController()
        void follow(following)
      }
      return () => {
        if (!listeners.delete(own) || listeners.size > 0) return
        following?.abort()
        following = undefined
      }
    },
  }
}

/** Aborts with `signal`, and when a browser goes online or offline, or its page becomes visible: the connection may be dead. */
function wakening(signal: AbortSignal) {
  const waking = new AbortController()
  const wake = () => {
    if (page.document?.visibilityState !== 'hidden') waking.abort()
  }
  for (const event of EVENTS) page.addEventListener?.(event, wake)
  return {
    signal: AbortSignal.any([signal, waking.signal]),
    end() {
      for (const event of EVENTS) page.removeEventListener?.(event, wake)
    },
  }
}
