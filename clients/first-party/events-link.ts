import type { TRPCLink } from '@trpc/client'
import { httpSubscriptionLink } from '@trpc/client'
import { EventSource } from 'eventsource'
import type { AppRouter } from '../../routers/client-router.ts'
import { eventsOf } from './refused-stream.ts'
import type { Tokens } from './tokens.ts'

interface Settings {
  url: string | URL
  tokens: Tokens
  send: typeof fetch
}

/**
 * Subscriptions, by server-sent events. Node has no EventSource, and the browsers' sends no token. A refused token is replaced once;
 * a connection that was lost is opened again with a current one.
 */
export const eventsLink = ({ url, tokens, send }: Settings): TRPCLink<AppRouter> =>
  httpSubscriptionLink<AppRouter, typeof EventSource>({
    url: String(url),
    EventSource,
    eventSourceOptions: ({ op }) => ({
      async fetch(address, init) {
        const ask = async () =>
          send(address, { ...init, headers: { ...init.headers, ...(await tokens.headersOf([op])) } })
        const response = await ask()
        if (response.status !== 401 || !tokens.renew(op)) return eventsOf(response)
        await response.body?.cancel()
        return eventsOf(await ask())
      },
    }),
  })
