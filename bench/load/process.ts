import { ask, metered, start, TSX } from '../servers/process.ts'
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

export interface Asked {
  set: string
  port: number
  connections: number
}

/** Each connection sends its next request when it has its answer. */
export interface ClosedLoad extends Asked {
  count: number
}

/** At a fixed rate, some traced (trace-ids.ts). */
export interface OpenLoad extends Asked {
  perSecond: number
  seconds: number
  traces?: boolean
}

interface Checked {
  perSecond: number
  /** Answers that are no success, or have other content. */
  wrong: number
  sample: string
}

/** Times are in ms. */
export interface Sent extends Checked {
  p50: number
  p99: number
}

/** For each request, in ms: when it was due (of the epoch), the time from then on, and how much later the client sent it. */
export interface Opened extends Checked {
  due: number[]
  times: number[]
  lateness: number[]
}

export type LoadProcess = ReturnType<typeof startLoad>

/** Its methods throw when an answer was wrong. */
export function startLoad() {
  const { child, watch, stop } = metered(start(1, [...TSX, new URL('load.ts', import.meta.url).pathname], {}))
  const checked = async <Answer extends Checked>(load: Asked): Promise<Answer> => {
    const sent = await ask<Answer>(child, load)
    if (sent.wrong > 0) throw new Error(`${load.set}: ${sent.wrong} wrong answers, such as ${sent.sample}`)
    return sent
  }
  return {
    prepare: (set: RequestSet) => ask(child, set),
    send: (load: ClosedLoad) => checked<Sent>(load),
    sendAtRate: (load: OpenLoad) => checked<Opened>(load),
    watch,
    stop,
  }
}
