import { createBatch } from './batch.ts'
import type { Change, ChangesOptions } from './changes.ts'
import { iterateChanges, readChanges } from './changes.ts'
import type { Entry, ListedEntry } from './entry.ts'
import { strong } from './entry.ts'
import { ApiError, isAbsence } from './errors.ts'
import type { Live } from './live.ts'
import { createLive } from './live.ts'
import { randomId } from './platform.ts'
import type { Json } from './records.ts'
import type { Answer, CallOptions, Send } from './request.ts'
import { read } from './request.ts'
import type { UpdateOptions } from './update.ts'
import { createKeyProbe, updateIn } from './update.ts'

export interface Condition extends CallOptions {
  /** Only the version with this `etag`; else `EntryChanged`. */
  ifMatch?: string | undefined
}

export type Patch<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? { [Key in keyof Value]?: Patch<Value[Key]> | null }
    : Value

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
    options?: UpdateOptions,
  ): Promise<Entry<Value>>
  /**
   * Changes members of an object (RFC 7396), so that no concurrent change is lost: null removes one. A missing key gets an
   * object.
   */
  merge(key: string, patch: Patch<Value>, options?: Condition): Promise<Entry<Value>>
  /** Adds to the number at a JSON pointer, as `/points`, exactly, so that no concurrent addition is lost. '': the value itself. */
  add(key: string, pointer: string, number: number, options?: Condition): Promise<Entry<Value>>
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

/** Throws what the service would answer. A browser or a proxy would make another path of a name such as `..`. */
function checked(name: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return name
  throw new ApiError({ status: 422, message: "Names use 1 to 64 letters, digits, '_' or '-'.", id: 'nameInvalid' })
}

/** With a key for the call, as a repeated write under a condition would be refused because of the first one's effect. */
const conditional = (headers: Record<string, string | undefined>): Record<string, string | undefined> =>
  Object.values(headers).some((text) => text !== undefined) ? { ...headers, 'idempotency-key': randomId() } : headers

/** All entries: `for await (const { key, value } of collection)`. An entry written meanwhile may be missing or occur twice. */
export function createCollection<Value>(
  send: Send,
  name: string,
  scope: 'org' | 'user' | undefined,
): Collection<Value> {
  const path = () => `/storage/${checked(name)}` as const
  const at = (key: string) => `${path()}/${checked(key)}` as const
  const query = { scope }
  const readPage = readChanges<Value>(send, () => `/collections/${checked(name)}`, scope)
  const toEntry = ({ body, headers }: Answer): Entry<Value> => ({
    ...(body as ListedEntry<Value>),
    etag: strong(headers.get('etag') ?? ''),
  })
  const knowsKeys = createKeyProbe((key) =>
    send('apps', `PUT ${at(key)}`, {
      query,
      headers: { 'if-match': '"-"', 'idempotency-key': '-'.repeat(256) },
      body: { value: null },
      isRepeatable: true,
    }),
  )

  const batch = createBatch(send)
  const edit = async (
    key: string,
    change: { op: 'merge'; value: Json } | { op: 'add'; pointer: string; value: number },
    { ifMatch, signal }: Condition = {},
  ) => {
    const address = { collection: checked(name), key: checked(key), ...(scope && { scope }) }
    const condition = ifMatch === undefined ? {} : { ifMatch }
    const [, entry] = await batch(
      [
        { ...address, ...condition, ...change },
        { ...address, op: 'get' },
      ],
      { signal },
    )
    return entry as Entry<Value>
  }

  const collection: Collection<Value> = {
    list: async ({ limit, offset, signal } = {}) =>
      read(send('apps', `GET ${path()}`, { query: { ...query, limit, offset }, signal })),
    async get(key, { signal } = {}) {
      try {
        return toEntry(await send('apps', `GET ${at(key)}`, { query, signal }))
      } catch (error) {
        if (isAbsence(error)) return undefined
        throw error
      }
    },
    async put(key, value, { ifMatch, ifNoneMatch, signal } = {}) {
      const headers = conditional({ 'if-match': strong(ifMatch), 'if-none-match': ifNoneMatch })
      const call = { query, headers, body: { value }, isRepeatable: true, signal }
      return toEntry(await send('apps', `PUT ${at(key)}`, call))
    },
    merge: (key, patch, options) => edit(key, { op: 'merge', value: patch as Json }, options),
    add: (key, pointer, value, options) => edit(key, { op: 'add', pointer, value }, options),
    update: (...given) => updateIn(collection, knowsKeys, given),
    async delete(key, { ifMatch, signal } = {}) {
      const headers = conditional({ 'if-match': strong(ifMatch) })
      // Without a key, the second of two would find nothing.
      const isRepeatable = 'idempotency-key' in headers
      try {
        await send('apps', `DELETE ${at(key)}`, { query, headers, isRepeatable, signal })
        return true
      } catch (error) {
        if (isAbsence(error)) return false
        throw error
      }
    },
    changes: (options = {}) => iterateChanges(readPage, options),
    live: () => createLive(readPage),
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
