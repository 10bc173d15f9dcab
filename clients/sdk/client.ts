import type { Operation, OperationResult } from './batch.ts'
import { createBatch } from './batch.ts'
import type { Change, ChangesOptions } from './changes.ts'
import type { Entry, ListedEntry } from './entry.ts'
import { ApiError, EntryChanged, QuotaExceeded, RateLimited, ScopeMissing, SignInNeeded } from './errors.ts'
import type { Live } from './live.ts'
import type { Me } from './me.ts'
import createMe from './me.ts'
import { PlatformLacks, randomId } from './platform.ts'
import type { Answers, Items, Json, QuizResult, Root, Webhook } from './records.ts'
import type { CallOptions, ClientOptions, Tokens } from './request.ts'
import { createSend, read } from './request.ts'
import type { Collection, Condition } from './storage.ts'
import { createCollection } from './storage.ts'

export interface Storage {
  /** Your app's entries in the member's club; with `{ scope: 'user' }` those of the member only. */
  <Value = Json>(collection: string, options?: { scope?: 'org' | 'user' }): Collection<Value>
  /** Up to 25 operations in one transaction: all of them or none. */
  batch(operations: readonly Operation[], options?: CallOptions): Promise<OperationResult[]>
}

/** A client for apps, lms, notify and sync. Its functions do not use `this`, and are rejected with an `ApiError`. */
export interface Client {
  root(options?: CallOptions): Promise<Root>
  me: Me
  /** Creates an address at which the member's calendar program reads their events: another one each time. */
  calendar(options?: CallOptions): Promise<{ url: string; expiresAt: null }>
  storage: Storage
  quizzes: {
    /**
     * Generates an `Idempotency-Key`, so that an attempt counts once however often it is sent. Pass your own to repeat a call.
     */
    submit(quizId: string, answers: Answers, options?: { idempotencyKey?: string } & CallOptions): Promise<QuizResult>
  }
  webhook: {
    get(app: string, options?: CallOptions): Promise<Webhook>
    put(
      app: string,
      webhook: { url: string; secret?: string },
      options?: CallOptions,
    ): Promise<{ url: string; hasSecret: boolean }>
    delete(app: string, options?: CallOptions): Promise<void>
  }
}

export function createClient(settings: ClientOptions): Client {
  const send = createSend(settings)
  const storage = <Value>(collection: string, { scope }: { scope?: 'org' | 'user' } = {}) =>
    createCollection<Value>(send, collection, scope)
  const webhookPath = (app: string) => `/apps/${encodeURIComponent(app)}/webhook` as const

  return {
    root: (options) => read(send('apps', 'GET /', options)),
    me: createMe(send),
    calendar: (options) => read(send('sync', 'POST /calendar', options)),
    storage: Object.assign(storage, { batch: createBatch(send) }),
    quizzes: {
      submit(quizId, answers, { idempotencyKey = randomId(), signal } = {}) {
        const headers = { 'idempotency-key': idempotencyKey }
        const call = { headers, body: { answers }, isRepeatable: true, signal }
        return read(send('lms', `POST /quizzes/${encodeURIComponent(quizId)}/results`, call))
      },
    },
    webhook: {
      get: (app, options) => read(send('notify', `GET ${webhookPath(app)}`, options)),
      put: (app, body, options) =>
        read(send('notify', `PUT ${webhookPath(app)}`, { ...options, body, isRepeatable: true })),
      async delete(app, options) {
        await send('notify', `DELETE ${webhookPath(app)}`, { ...options, isRepeatable: true })
      },
    },
  }
}

export type * from './me.ts'
export type {
  Answers,
  CallOptions,
  Change,
  ChangesOptions,
  ClientOptions,
  Collection,
  Condition,
  Entry,
  Items,
  Json,
  ListedEntry,
  Live,
  Operation,
  OperationResult,
  QuizResult,
  Root,
  Tokens,
  Webhook,
}
export { ApiError, EntryChanged, PlatformLacks, QuotaExceeded, RateLimited, ScopeMissing, SignInNeeded }
