import { once } from 'node:events'
import type { Form } from './content.ts'
import { startPinned } from './process.ts'

export interface Request {
  method: string
  path: string
  headers: Record<string, string>
  body: string | undefined
}

/** Requests that are sent in turn. The answers to the i-th of all sets of one `agreement` have to say the same. */
export interface RequestSet {
  name: string
  agreement: string
  form: Form
  masked: readonly string[]
  requests: Request[]
}

/** Closed loop: each connection sends its next request when it has its answer. */
export interface Closed {
  set: string
  port: number
  connections: number
  count: number
}

/** Open loop: at a fixed rate. */
export interface Open {
  set: string
  port: number
  connections: number
  perSecond: number
  seconds: number
}

export type Load = RequestSet | Closed | Open

/** Times are in ms. */
export interface Sent {
  perSecond: number
  p50: number
  p99: number
  /** p99 of how much later than due a request was sent. */
  late: number
  /** Answers that are no success, or say something else. */
  wrong: number
  sample: string
}

export type LoadProcess = ReturnType<typeof startLoad>

/** Starts the process that sends the requests. */
export function startLoad() {
  const { child, stop } = startPinned(1, ['--import', 'tsx', new URL('load.ts', import.meta.url).pathname], {})
  const ask = async (load: Load): Promise<Sent> => {
    child.send(load)
    const [sent] = await once(child, 'message')
    return sent
  }
  return {
    /** Names requests that are sent later. */
    async prepare(set: RequestSet) {
      await ask(set)
    },
    /** Throws when an answer was wrong. */
    async send(load: Closed | Open): Promise<Sent> {
      const sent = await ask(load)
      if (sent.wrong > 0) throw new Error(`${load.set}: ${sent.wrong} wrong answers, such as ${sent.sample}`)
      return sent
    },
    stop,
  }
}
