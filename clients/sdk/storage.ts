import type { Change, ChangesOptions } from './changes.ts'
import { changesOf, readChanges } from './changes.ts'
import type { Entry, ListedEntry } from './entry.ts'
import { ApiError, EntryChanged, isAbsence } from './errors.ts'
import type { Live } from './live.ts'
import { liveOf } from './live.ts'
import { pause } from './pause.ts'
import type { CallOptions, Send } from './request.ts'
import { read } from './request.ts'

export interface Condition extends CallOptions {
  /** Only the version with this `etag`; else `EntryChanged`. */
  ifMatch?: string | undefined
}

export interface Collection<Value> extends AsyncIterable<ListedEntry<Value>> {
  /** A page, ordered by key: at most 200 entries, by default 50. */
  list(
    page?: { limit?: number; offset?: number } & CallOptions,
  ): Promise<{ items: ListedEntry<Value>[]; total: number }>
  /** Undefined when the key does not exist. */
  get(key: string, options?: CallOptions): Promise<Entry<Value> | undefined>
  /** Creates or replaces the entry; with `ifNoneMatch: '*'` it only creates it, else `EntryChanged`. */
  put(key: string, value: Value, options?: Condition & { ifNoneMatch?: '*' | undefined }): Promise<Entry<Value>>
  /**
   * Replaces a value by the result of `change`, so that no concurrent change is lost. `change` gets undefined when the key does
   * not exist, and runs again when another writer was faster: up to `attempts` times, by default 50.
   */
  update(
    key: string,
    change: (value: Value | undefined) => Value | Promise<Value>,
    options?: { attempts?: number } & CallOptions,
  ): Promise<Entry<Value>>
  /** Returns whether the key existed. */
  delete(key: string, options?: Condition): Promise<boolean>
  /**
   * Without end: all entries, then the last state of each key that changes. An `ApiError` with the status 410: the changes after
   * `since` are no longer stored, so begin without it.
   */
  changes(options?: ChangesOptions): AsyncGenerator<Change<Value>>
  /** The entries as a map that is filled, and kept current while somebody listens. */
  live(): Live<Value>
}

const PAGE = 200
/** Between two attempts of an update: 20 writers of one key then take some 65 attempts, and 190 without. */
const MAX_PAUSE_MS = 100

/** Throws what the service would answer. A browser or a proxy would make another path of a name such as `..`. */
function checked(name: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return name
  throw new ApiError({ status: 422, message: "Names use 1 to 64 letters, digits, '_' or '-'.", id: 'nameInvalid' })
}

/** All entries: `for await (const { key, value } of collection)`. An entry written meanwhile may be missing or occur twice. */
export function collectionOf<Value>(send: Send, name: string, scope: 'org' | 'user' | undefined): Collection<Value> {
  const path = () => `/storage/${checked(name)}` as const
  const at = (key: string) => `${path()}/${checked(key)}` as const
  const query = { scope }
  const readPage = readChanges<Value>(send, () => `/collections/${checked(name)}`, scope)
  const entryOf = async (response: Response): Promise<Entry<Value>> => ({
    ...((await response.json()) as ListedEntry<Value>),
    etag: response.headers.get('etag') ?? '',
  })

  const collection: Collection<Value> = {
    list: async ({ limit, offset, signal } = {}) =>
      read(send('apps', `GET ${path()}`, { query: { ...query, limit, offset }, signal })),
    async get(key, { signal } = {}) {
      try {
        return await entryOf(await send('apps', `GET ${at(key)}`, { query, signal }))
      } catch (error) {
        if (isAbsence(error)) return undefined
        throw error
      }
    },
    async put(key, value, { ifMatch, ifNoneMatch, signal } = {}) {
      const headers = { 'if-match': ifMatch, 'if-none-match': ifNoneMatch }
      // With a condition, the second of two would be refused because of the first one's effect.
      const isRepeatable = ifMatch === undefined && ifNoneMatch === undefined
      return entryOf(await send('apps', `PUT ${at(key)}`, { query, headers, body: { value }, isRepeatable, signal }))
    },
    async update(key, change, { attempts = 50, signal } = {}) {
      for (let attempt = 1; ; attempt++) {
        const found = await collection.get(key, { signal })
        const value = await change(found?.value)
        try {
          return await collection.put(
            key,
            value,
            found ? { ifMatch: found.etag, signal } : { ifNoneMatch: '*', signal },
          )
        } catch (error) {
          if (!(error instanceof EntryChanged) || attempt >= attempts) throw error
        }
        await pause(Math.random() * MAX_PAUSE_MS, signal)
      }
    },
    async delete(key, { ifMatch, signal } = {}) {
      try {
        await send('apps', `DELETE ${at(key)}`, { query, headers: { 'if-match': ifMatch }, signal })
        return true
      } catch (error) {
        if (isAbsence(error)) return false
        throw error
      }
    },
    changes: (options = {}) => changesOf(readPage, options),
    live: () => liveOf(readPage),
    async *[Symbol.asyncIterator]() {
      for (let offset = 0; ; offset += PAGE) {
        const { items } = await collection.list({ limit: PAGE, offset })
        yield* items
        if (items.length < PAGE) return
      }
    },
  }
  return collection
}
