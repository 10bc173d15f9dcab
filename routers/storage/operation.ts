import type { JsonText } from '../kernel/raw-json/text.ts'
import type { Collection, Conditions } from './statements.ts'

/** `value`: what a put stores, a merge patch, or the number that `add` adds; otherwise null. */
export interface Operation extends Pick<Collection, 'owner' | 'collection'>, Conditions {
  op: 'put' | 'delete' | 'get' | 'merge' | 'add'
  key: string
  value: JsonText | null
  /** Where the number is that `add` changes. */
  pointer?: string | undefined
}

/** What makes a request count once. */
export interface Once {
  client: string
  /** The `Idempotency-Key`. */
  key: string
  method: 'PUT' | 'DELETE' | 'POST'
}

export interface Request {
  operations: readonly Operation[]
  /** Unix seconds, with milliseconds. */
  at: number
  quotaBytes: number
  /** With it, the same request within 24 hours gets the first answer, but what a `get` reads now. */
  once?: Once | undefined
}
