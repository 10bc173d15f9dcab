import type { Operation, TRPCClient } from '@trpc/client'
import { createTRPCClient, httpBatchLink, splitLink, TRPCClientError } from '@trpc/client'
import type { AppRouter } from '../../routers/client-router.ts'
import type { Json } from '../../routers/kernel/json.ts'
import { readable } from './answers.ts'
import { repeatLink } from './repeat-link.ts'
import type { Token } from './tokens.ts'
import { createTokens } from './tokens.ts'

/** As many calls as the service accepts in a request. */
const MAX_CALLS = 50
/** Of all calls: common proxies take request lines of 8 KiB. */
const MAX_ADDRESS_LENGTH = 6_000
/** Inputs of more characters, percent-encoded, go alone: 50 of them are 1 MB, and the service reads 1 MiB beside stored values. */
const MAX_INPUT_LENGTH = { query: 5_000, mutation: 20_000, subscription: 0 }

export interface ClientOptions {
  /** Address of the tRPC endpoint, as `http://localhost:3001/trpc`. */
  url: string | URL
  /**
   * An access token, or a function that gets one. It is asked before the first call, and with `renew: true` when the service
   * has refused the token that it gave (401); then the refused calls are repeated once.
   */
  token: Token
  /**
   * How many seconds a call may wait in all when the service asks to try again later: `Retry-After` of 429, for queries of
   * 503 too. A longer wait is not begun: the call is rejected at once. By default 60; with 0 nothing waits.
   */
  maxWaitSeconds?: number
  /** Sends the requests; by default the global `fetch`. */
  fetch?: typeof globalThis.fetch
}

export type Client = TRPCClient<AppRouter>

/** A client of all procedures, as `client.storage.get.query({ … }, { signal })`. Calls made together share a request. */
export function createClient({ url, token, maxWaitSeconds = 60, fetch: send = fetch }: ClientOptions): Client {
  const tokens = createTokens(token)
  const batches = (bounds: { maxItems: number; maxURLLength?: number }) =>
    httpBatchLink<AppRouter>({
      url,
      fetch: readable(send),
      headers: ({ opList }) => tokens.headersOf(opList),
      ...bounds,
    })
  return createTRPCClient<AppRouter>({
    links: [
      repeatLink({ tokens, maxWaitMs: maxWaitSeconds * 1000 }),
      splitLink({
        condition: goesAlone,
        true: batches({ maxItems: 1 }),
        false: batches({ maxItems: MAX_CALLS, maxURLLength: MAX_ADDRESS_LENGTH }),
      }),
    ],
  })
}

function goesAlone({ type, input }: Operation): boolean {
  const json = JSON.stringify(input) ?? ''
  const limit = MAX_INPUT_LENGTH[type]
  return json.length > limit || encodeURIComponent(json).length > limit
}

export type { AppRouter, Json }
/** What calls are rejected with: `data` has the `httpStatus`, the code as `error`, and for a 409 the `reason`. */
export { TRPCClientError }
