import { AsyncLocalStorage } from 'node:async_hooks'

export interface ActiveSpan {
  traceId: string
  /** False once it has ended. Timers and loops that it started outlive it. */
  open: boolean
}

/** Only set when tracing is on, so it costs nothing otherwise. */
export const activeSpan = new AsyncLocalStorage<ActiveSpan>()

export function traceOfLine(): { trace_id?: string } {
  const active = activeSpan.getStore()
  return active?.open ? { trace_id: active.traceId } : {}
}

/** Runs work that outlives its caller, such as a woken loop, outside the caller's span. */
export const outsideOfSpan = <T>(work: () => T): T => activeSpan.exit(work)

/** A request's attributes in its span: nothing that a client chooses freely, such as path, query or address. */
export interface RequestFacts {
  operation: string
  route?: string | undefined
  status: number
}

export interface Tracing {
  /** Runs `work` in a new span; `traceparent` is the request's header, if it has one. */
  request: (
    given: { method: string; traceparent: unknown },
    work: () => Promise<void>,
    facts: () => RequestFacts,
  ) => Promise<void>
  /** Begins a statement's span, within a request's or attempt's; undefined outside of one. */
  statement: (name: string) => ((error: Error | undefined) => void) | undefined
  /** Runs one delivery attempt; `work` gets the `traceparent` to send. */
  attempt: <T>(
    number: number,
    work: (traceparent: string) => Promise<T>,
    readResult: (made: T) => { status: number | null; error: string | null },
  ) => Promise<T>
  /** Exports the remaining spans within two seconds at most. */
  close: () => Promise<void>
}
