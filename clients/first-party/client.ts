import type { TRPCClient } from '@trpc/client'
import { createTRPCClient, TRPCClientError } from '@trpc/client'
import type { AppRouter } from '../../routers/client-router.ts'
import type { Json } from '../../routers/kernel/json.ts'
import { batchLink } from './batch-link.ts'
import { later } from './later.ts'
import { repeatLink } from './repeat-link.ts'
import type { SentTokens, Token } from './tokens.ts'
import { createTokens } from './tokens.ts'

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

/** Not of the published interface: a test passes its own. */
interface Clock {
  wait?: typeof later
}

export type Client = TRPCClient<AppRouter>

/** A client of all procedures, as `client.storage.get.query({ … }, { signal })`. Calls made together share a request. */
export function createClient(options: ClientOptions): Client {
  const { url, token, maxWaitSeconds = 60, fetch: send = fetch, wait = later }: ClientOptions & Clock = options
  const tokens = createTokens(token)
  const sent: SentTokens = new WeakMap()
  return createTRPCClient<AppRouter>({
    links: [
      repeatLink({ tokens, sent, maxWaitMs: maxWaitSeconds * 1000, wait }),
      batchLink({ url, send, tokens, sent }),
    ],
  })
}

export type { AppRouter, Json }
/** What calls are rejected with: `data` has the `httpStatus`, the code as `error`, and for a 409 the `reason`. */
export { TRPCClientError }
