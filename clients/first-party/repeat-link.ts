import type { TRPCLink } from '@trpc/client'
import { retryLink, TRPCClientError } from '@trpc/client'
import type { Observable } from '@trpc/server/observable'
import { observable } from '@trpc/server/observable'
import type { AppRouter } from '../../routers/client-router.ts'
import type { Tokens } from './tokens.ts'

/** `Retry-After` in milliseconds, at least one second; infinite without the header. */
export function retryAfterMs(headers: Headers | undefined): number {
  const after = headers?.get('retry-after')
  if (!after) return Number.POSITIVE_INFINITY
  const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now()
  return Number.isNaN(ms) ? Number.POSITIVE_INFINITY : Math.max(1000, ms)
}

interface Settings {
  tokens: Tokens
  /** For all pauses of one call. */
  maxWaitMs: number
}

/**
 * Repeats single calls, not requests, as the other calls of a batch may have been executed: once with another token after 401,
 * and after a pause when the service asks for one with `Retry-After`. After 503 a mutation is not repeated, as it may have been
 * executed too.
 */
export const repeatLink =
  ({ tokens, maxWaitMs }: Settings): TRPCLink<AppRouter> =>
  (runtime) =>
  ({ op: given, next }) => {
    const op = { ...given, context: { ...given.context } }
    let leftMs = maxWaitMs
    let pauseMs = 0
    const repeating = retryLink<AppRouter>({
      retry({ error }) {
        const status = error.data?.httpStatus
        if (status === 401) {
          pauseMs = 0
          return tokens.renewOnce(op)
        }
        // By the time of the repetition it may have ended.
        if (status === 429) tokens.accepted(op)
        if (status !== 429 && (status !== 503 || op.type !== 'query')) return false
        pauseMs = retryAfterMs((error.meta?.response as Response | undefined)?.headers)
        leftMs -= pauseMs
        return leftMs >= 0
      },
      retryDelayMs: () => pauseMs,
    })
    return endedBy(op.signal, repeating(runtime)({ op, next }))
  }

/** Rejects at once: tRPC's links would wait for the pause, and for the other calls of the batch. */
function endedBy<Value, Failure>(signal: AbortSignal | null | undefined, call: Observable<Value, Failure>) {
  if (!signal) return call
  return observable<Value, Failure>((observer) => {
    const abort = () => observer.error(TRPCClientError.from(signal.reason) as Failure)
    if (signal.aborted) return abort()
    signal.addEventListener('abort', abort)
    const subscription = call.subscribe(observer)
    return () => {
      signal.removeEventListener('abort', abort)
      subscription.unsubscribe()
    }
  })
}
