import { AsyncLocalStorage } from 'node:async_hooks'

/** The span in which something runs. */
export interface ActiveSpan {
  traceId: string
  /** Whether it has not ended. Timers and loops that it started outlive it. */
  open: boolean
}

/** Only with traces is there ever a value, and else no cost. */
export const activeSpan = new AsyncLocalStorage<ActiveSpan>()

/** The trace to which a line of the log belongs. */
export function traceOfLine(): { trace_id?: string } {
  const active = activeSpan.getStore()
  return active?.open ? { trace_id: active.traceId } : {}
}

/** Runs what outlives its caller, such as a loop that is woken, outside of the caller's span. */
export const outsideOfSpan = <T>(work: () => T): T => activeSpan.exit(work)

/** A request as a span tells of it: nothing that a client chooses freely, such as path, query or address. */
export interface RequestFacts {
  operation: string
  /** The path's template. */
  route?: string | undefined
  status: number
}

/** Makes spans. */
export interface Tracing {
  /** Runs `work` in a span of its own; `traceparent` is the header of the request, if it has one. */
  request: (
    given: { method: string; traceparent: unknown },
    work: () => Promise<void>,
    facts: () => RequestFacts,
  ) => Promise<void>
  /** Begins the span of a statement, within that of a request or attempt; undefined outside of one. */
  statement: (name: string) => ((error: Error | undefined) => void) | undefined
  /** Runs one attempt to deliver; `work` gets the `traceparent` to send. */
  attempt: <T>(
    number: number,
    work: (traceparent: string) => Promise<T>,
    resultOf: (made: T) => { status: number | null; error: string | null },
  ) => Promise<T>
  /** Exports what is left, for at most two seconds. */
  close: () => Promise<void>
}
