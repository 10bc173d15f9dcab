import type { TRPCLink } from '@trpc/client'
import { TRPCClientError } from '@trpc/client'
import type { AnyTRPCRouter } from '@trpc/server'
import { observable } from '@trpc/server/observable'
import type { later } from './later.ts'
import type { SentTokens, Tokens } from './tokens.ts'

interface Settings {
  tokens: Tokens
  sent: SentTokens
  /** Of all pauses of one call. */
  maxWaitMs: number
  wait: typeof later
}

/**
 * Repeats single calls, not requests, as the other calls of a batch may have been carried out: once with another token
 * after 401, and after a pause when the service asks for one with `Retry-After`. After 503 a mutation is not repeated, as it
 * may have been carried out too.
 */
export const repeatLink =
  ({ tokens, sent, maxWaitMs, wait }: Settings): TRPCLink<AnyTRPCRouter> =>
  () =>
  ({ op, next }) =>
    observable((observer) => {
      const { signal } = op
      let leftMs = maxWaitMs
      let renewed = false
      let ended = false
      let subscription: { unsubscribe(): void } | undefined
      let cancel: (() => void) | undefined

      const end = () => {
        ended = true
        cancel?.()
        subscription?.unsubscribe()
        signal?.removeEventListener('abort', abort)
      }
      const fail = (cause: unknown) => {
        if (ended) return
        end()
        observer.error(TRPCClientError.from(cause as Error))
      }
      const abort = () => fail(signal?.reason)

      const attempt = () => {
        const context = { ...op.context }
        subscription = next({ ...op, context }).subscribe({
          next: (value) => observer.next(value),
          complete: () => observer.complete(),
          error(error) {
            const status = error.data?.httpStatus
            const token = sent.get(context)
            if (status === 401 && !renewed && token !== undefined) {
              renewed = true
              tokens.renew(token).then((isNew) => (isNew ? again(0) : fail(error)), fail)
            } else if (status === 429 || (status === 503 && op.type === 'query')) {
              const pauseMs = pauseOf(error)
              leftMs -= pauseMs
              if (leftMs >= 0) again(pauseMs)
              else fail(error)
            } else fail(error)
          },
        })
      }
      const again = (ms: number) => {
        if (!ended) cancel = wait(ms, attempt)
      }

      if (signal?.aborted) abort()
      else {
        signal?.addEventListener('abort', abort)
        attempt()
      }
      return end
    })

/** `Retry-After` in milliseconds, at least one second; infinite without the header. */
function pauseOf({ meta }: TRPCClientError<AnyTRPCRouter>): number {
  const after = (meta?.response as Response | undefined)?.headers.get('retry-after')
  if (!after) return Number.POSITIVE_INFINITY
  const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now()
  return Number.isNaN(ms) ? Number.POSITIVE_INFINITY : Math.max(1000, ms)
}
