import type { TRPCLink } from '@trpc/client'
import { httpSubscriptionLink } from '@trpc/client'
import { EventSource } from 'eventsource'
import type { AppRouter } from '../../routers/client-router.ts'
import { pause } from './pause.ts'
import { toEventStream } from './refused-stream.ts'
import { retryAfterMs } from './retry-after.ts'
import type { Tokens } from './tokens.ts'

interface Settings {
  url: string | URL
  tokens: Tokens
  send: typeof fetch
}

/** Milliseconds after which the service, or a proxy, asks to try again. */
function pauseAfter({ status, headers }: Response): number | undefined {
  const ms = status === 429 || status >= 500 ? retryAfterMs(headers) : Number.POSITIVE_INFINITY
  return Number.isFinite(ms) ? ms : undefined
}

/**
 * Subscriptions, by server-sent events. Node has no EventSource, and the browsers' sends no token. A refused token is renewed;
 * a connection that was lost is opened again with a current one. The pause that a refusal asks for is made here: an EventSource
 * would use it for all later connections as well.
 */
export const eventsLink = ({ url, tokens, send }: Settings): TRPCLink<AppRouter> =>
  httpSubscriptionLink<AppRouter, typeof EventSource>({
    url: String(url),
    EventSource,
    eventSourceOptions: ({ op }) => ({
      async fetch(address, init) {
        const ask = async () =>
          send(address, { ...init, headers: { ...init.headers, ...(await tokens.buildHeaders([op])) } })
        for (;;) {
          let response = await ask()
          if (response.status === 401 && tokens.renew(op)) {
            await response.body?.cancel()
            response = await ask()
          }
          if (response.ok) tokens.accepted(op)
          const pauseMs = pauseAfter(response)
          if (pauseMs === undefined) return toEventStream(response)
          await response.body?.cancel()
          await pause(pauseMs, init.signal)
        }
      },
    }),
  })
