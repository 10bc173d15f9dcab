import type { Operation, TRPCClient } from '@trpc/client'
import { createTRPCClient, httpBatchLink, splitLink, TRPCClientError } from '@trpc/client'
import type { AppRouter } from '../../routers/client-router.ts'
import type { Json } from '../../routers/kernel/json.ts'
import { eventsLink } from './events-link.ts'
import { repeatLink } from './repeat-link.ts'
import type { Token } from './tokens.ts'
import { createTokens } from './tokens.ts'

/**
 * Like `send`, but with a tRPC error in place of any other answer, as of a proxy: tRPC's links lose the status and headers of
 * what they cannot read.
 */
const readable = (send: typeof fetch) => async (address: URL | string | Request, init?: object) => {
  const response = await send(address, init)
  // Its own, as other fetches have classes of their own.
  const json = response.json.bind(response)
  const read = () => json().catch(() => undefined)
  return Object.assign(response, { json: async () => toAnswer(await read(), response.status) })
}

function toAnswer(parsed: unknown, status: number) {
  if ([parsed].flat().every(isAnswer)) return parsed
  const message = `The answer is ${status}, and not one of tRPC.`
  const data = { httpStatus: status, error: status < 500 ? 'invalid_request' : 'unavailable' }
  // tRPC's codes for a bad request and for an error of the service: after the latter, streams are opened again.
  return { error: { code: status < 500 ? -32600 : -32603, message, data } }
}

function isAnswer(given: unknown): boolean {
  const { result, error } = Object(given)
  return result !== undefined || typeof error?.code === 'number'
}

/** The service's limit of calls in a request. */
const MAX_CALLS = 50
/** Limits the address of all calls together: common proxies accept request lines of 8 KiB. */
const MAX_ADDRESS_LENGTH = 6_000
/**
 * Inputs of more characters, percent-encoded, are sent separately: 50 of them are 1 MB, and the service reads 1 MiB in addition
 * to stored values.
 */
const MAX_INPUT_LENGTH = { query: 5_000, mutation: 20_000, subscription: 0 }

export interface ClientOptions {
  /** Address of the tRPC endpoint, as `http://localhost:3001/trpc`. */
  url: string | URL
  /**
   * An access token, or a function that gets one. It is called before the first call, and with `renew: true` when the service has
   * refused its token (401); then the refused calls are repeated once.
   */
  token: Token
  /**
   * The total time in seconds that a call may wait when the service asks to try again later: `Retry-After` of 429, for queries
   * also of 503. The call is rejected at once if the wait would be longer. By default 60; with 0 nothing waits. Streams are opened
   * again after any wait.
   */
  maxWaitSeconds?: number
  /** Sends the requests; by default the global `fetch`. */
  fetch?: typeof globalThis.fetch
}

export type Client = TRPCClient<AppRouter>

/** A client for all procedures, as `client.storage.get.query({ … }, { signal })`. Calls made together share a request. */
export function createClient({ url, token, maxWaitSeconds = 60, fetch: send = fetch }: ClientOptions): Client {
  const tokens = createTokens(token)
  const ask = readable(send)
  const batches = (bounds: { maxItems: number; maxURLLength?: number }) =>
    httpBatchLink<AppRouter>({
      url,
      fetch: ask,
      headers: ({ opList }) => tokens.buildHeaders(opList),
      ...bounds,
    })
  return createTRPCClient<AppRouter>({
    links: [
      repeatLink({ tokens, maxWaitMs: maxWaitSeconds * 1000 }),
      splitLink({
        condition: ({ type }) => type === 'subscription',
        true: eventsLink({ url, tokens, send: ask }),
        false: splitLink({
          condition: goesAlone,
          true: batches({ maxItems: 1 }),
          false: batches({ maxItems: MAX_CALLS, maxURLLength: MAX_ADDRESS_LENGTH }),
        }),
      }),
    ],
  })
}

/** Others would wait with a call that waits for a change. */
const waits = (input: unknown) => Number((input as { wait?: unknown } | undefined)?.wait) > 0

function goesAlone({ type, input }: Operation): boolean {
  if (waits(input)) return true
  const json = JSON.stringify(input) ?? ''
  const limit = MAX_INPUT_LENGTH[type]
  return json.length > limit || encodeURIComponent(json).length > limit
}

export type { AppRouter, Json }
/** Calls are rejected with this: `data` has the `httpStatus`, the code as `error`, and for a 409 the `reason`. */
export { TRPCClientError }
