import type { TRPCLink } from '@trpc/client'
import { httpSubscriptionLink } from '@trpc/client'
import { EventSource } from 'eventsource'
import type { AppRouter } from '../../routers/client-router.ts'
import { retryAfterMs } from './repeat-link.ts'
import type { Tokens } from './tokens.ts'

const TOO_MANY_REQUESTS = 429

/**
 * The events of a stream. A refusal becomes an event as well, as tRPC's link reads nothing else: it would lose the error, and end
 * while the service is unavailable. After 429 the stream is opened again. The answer is one of `readable`.
 */
async function toEventStream(response: Response): Promise<Response> {
  if (response.ok) return response
  const { error } = (await response.json()) as { error: object }
  const refusal = `event: serialized-error\ndata: ${JSON.stringify(error)}\n\n`
  const events = response.status === TOO_MANY_REQUESTS ? '' : refusal
  return new Response(events, { headers: { 'content-type': 'text/event-stream' } })
}

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

/** Rejects as soon as the signal aborts, with an AbortError. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      reject(Object.assign(new Error('The pause was aborted.'), { name: 'AbortError' }))
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end)
      resolve()
    }, ms)
    if (signal?.aborted) end()
    else signal?.addEventListener('abort', end, { once: true })
  })
}
