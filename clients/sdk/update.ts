import type { Entry } from './entry.ts'
import { ApiError, EntryChanged } from './errors.ts'
import type { CallOptions } from './request.ts'
import { isAfterLoss } from './request.ts'
import { pause } from './timers.ts'

export type UpdateOptions = { attempts?: number } & CallOptions

export type Update<Value> = (
  key: string,
  change: (value: Value | undefined) => Value | Promise<Value>,
  options?: UpdateOptions,
) => Promise<Entry<Value>>

/** The calls of a collection that an update makes. */
interface Calls<Value> {
  get(key: string, options: CallOptions): Promise<Entry<Value> | undefined>
  put(key: string, value: Value, options: CallOptions & { ifMatch?: string; ifNoneMatch?: '*' }): Promise<Entry<Value>>
}

/** Between two attempts of an update: 20 writers of one key then take some 65 attempts, and 190 without. */
const MAX_PAUSE_MS = 100

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/**
 * Reads, changes, and writes if nothing has been written since. `knowsKeys` says whether the service remembers the
 * `Idempotency-Key` of a write: where it does not, a repeated write may meet its own effect, so the entry is compared.
 */
export async function updateIn<Value>(
  { get, put }: Calls<Value>,
  knowsKeys: (key: string) => Promise<boolean>,
  [key, change, { attempts = 50, signal } = {}]: Parameters<Update<Value>>,
): Promise<Entry<Value>> {
  let found = await get(key, { signal })
  for (let attempt = 1; ; attempt++) {
    const value = await change(found?.value)
    try {
      return await put(key, value, found ? { ifMatch: found.etag, signal } : { ifNoneMatch: '*', signal })
    } catch (error) {
      if (!(error instanceof EntryChanged)) throw error
      if (isAfterLoss(error)) {
        const now = await get(key, { signal })
        if (now && isEqual(now.value, value) && !(await knowsKeys(key))) return now
      }
      if (attempt >= attempts) throw error
    }
    await pause(Math.random() * MAX_PAUSE_MS, signal)
    found = await get(key, { signal })
  }
}

/** Sends a write that no entry fits, with a key that is too long: only a service that reads keys refuses it for that. */
export const createKeyProbe = (probe: (key: string) => Promise<unknown>) => {
  let known: Promise<boolean> | undefined
  return (key: string): Promise<boolean> => {
    known ??= probe(key).then(
      () => false,
      (error) => {
        if (error instanceof ApiError && error.status === 400) return true
        if (error instanceof EntryChanged) return false
        known = undefined
        throw error
      },
    )
    return known
  }
}
