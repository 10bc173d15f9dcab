import type { Entry } from './entry.ts'
import { strong } from './entry.ts'
import { randomId } from './platform.ts'
import type { Json } from './records.ts'
import type { CallOptions, Send } from './request.ts'
import { read } from './request.ts'

interface Address {
  collection: string
  key: string
  scope?: 'org' | 'user'
  /** The `etag` that the entry must have, or `*` for any. */
  ifMatch?: string
  /** The `etag` that the entry must not have; `*`: there must be no entry. */
  ifNoneMatch?: string
}

export type Operation = Address &
  ({ op: 'put' | 'merge'; value: Json } | { op: 'add'; pointer: string; value: number } | { op: 'get' | 'delete' })

/** In this order the result of a put, merge or add, a get, a get of a missing entry, and a delete. */
export type OperationResult =
  | { etag: string; updatedAt: number }
  | Entry<Json>
  | { key: string; missing: true }
  | { deleted: boolean }

/** The results by index. `EntryChanged` names the first operation whose condition fails; then nothing was stored. */
export const createBatch =
  (send: Send) =>
  async (operations: readonly Operation[], options?: CallOptions): Promise<OperationResult[]> => {
    const sent = operations.map(({ ifMatch, ifNoneMatch, ...operation }) => ({
      ...operation,
      ...(ifMatch !== undefined && { ifMatch: strong(ifMatch) }),
      ...(ifNoneMatch !== undefined && { ifNoneMatch: strong(ifNoneMatch) }),
    }))
    const headers = { 'idempotency-key': operations.every(({ op }) => op === 'get') ? undefined : randomId() }
    const call = { ...options, headers, body: { operations: sent }, isRepeatable: true }
    return (await read<{ results: OperationResult[] }>(send('sync', 'POST /batch', call))).results
  }
