import type { Entry } from './entry.ts'
import { RateLimited } from './errors.ts'
import type { CallOptions, Send } from './request.ts'
import { read } from './request.ts'
import { pause } from './timers.ts'

export type Change<Value> = (Entry<Value> | { key: string; deleted: true; updatedAt: number }) & {
  /** On the last change of a page. Pass it as `since` to go on after it, also after a restart. */
  cursor?: string
}

interface ChangePage<Value> {
  /** The last state of each key that changed, in order. */
  items: Change<Value>[]
  cursor: string
  /** More can be read at once. */
  more: boolean
}

export interface ChangesOptions extends CallOptions {
  /** The `cursor` of a change; empty or omitted, all entries come first. */
  since?: string | undefined
}

export type ReadChanges<Value> = (options: ChangesOptions & { wait?: number }) => Promise<ChangePage<Value>>

/** The longest that the service waits for a change. */
export const WAIT_SECONDS = 50
/** A request that is silent for longer has lost its connection. */
const SILENT_MS = (WAIT_SECONDS + 10) * 1_000

export const readChanges =
  <Value>(send: Send, path: () => string, scope: string | undefined): ReadChanges<Value> =>
  ({ since, wait, signal }) =>
    read(
      send('sync', `GET ${path()}/changes` as 'GET /', {
        query: { scope, since: since || undefined, wait },
        signal,
        silentMs: SILENT_MS,
      }),
    )

/** Waits for what comes next, without end. */
export async function* iterateChanges<Value>(
  read: ReadChanges<Value>,
  { since, signal }: ChangesOptions,
): AsyncGenerator<Change<Value>> {
  for (let cursor = since; ; ) {
    try {
      const { items, ...page } = await read({ since: cursor, wait: WAIT_SECONDS, signal })
      cursor = page.cursor
      for (const [i, item] of items.entries()) yield i === items.length - 1 ? { ...item, cursor } : item
    } catch (error) {
      if (!(error instanceof RateLimited)) throw error
      await pause(error.retryAfter * 1_000, signal)
    }
  }
}
