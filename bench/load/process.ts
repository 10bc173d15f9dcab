import { ask, start, TSX } from '../servers/process.ts'
import type { Form } from './content.ts'

export interface Request {
  method: string
  path: string
  headers: Record<string, string>
  body: string | undefined
}

/** Requests to be sent cyclically. The answers to the i-th request of all sets of one `agreement` must have the same content. */
export interface RequestSet {
  name: string
  agreement: string
  form: Form
  masked: readonly string[]
  requests: Request[]
}

/**
 * Closed loop, with a `count`: each connection sends its next request when it has its answer. Open loop, with `perSecond`: at a
 * fixed rate.
 */
export type Load = { set: string; port: number; connections: number } & (
  | { count: number }
  | { perSecond: number; seconds: number }
)

/** Times are in ms. */
export interface Sent {
  perSecond: number
  p50: number
  p99: number
  /** p99 of how much later than due a request was sent. */
  late: number
  /** Answers that are no success, or have other content. */
  wrong: number
  sample: string
}

export type LoadProcess = ReturnType<typeof startLoad>

export function startLoad() {
  const { child, stop } = start(1, [...TSX, new URL('load.ts', import.meta.url).pathname], {})
  return {
    prepare: (set: RequestSet) => ask(child, set),
    /** Throws when an answer was wrong. */
    async send(load: Load): Promise<Sent> {
      const sent = await ask<Sent>(child, load)
      if (sent.wrong > 0) throw new Error(`${load.set}: ${sent.wrong} wrong answers, such as ${sent.sample}`)
      return sent
    },
    stop,
  }
}
