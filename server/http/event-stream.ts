import type { ServerResponse } from 'node:http'
import type { RestEvent } from '../../rest-facade/facade.ts'
import { forbidStoring } from './respond.ts'
import type { StepContext } from './state.ts'
import { MIN_DOWNLOAD } from './transfer-rate.ts'
import { SLICE_BYTES, writeSlices } from './write-slices.ts'

export const EVENTS_TYPE = 'text/event-stream'

/** Proxies close a connection without data after 60 s. */
const COMMENT_MS = 15_000

/** A client that has lost its stream waits this long, and up to as long again: those of a stopped node do not all return at once. */
const RETRY_MS = 1_000

/** Sends a stream of server-sent events after its head. A client that does not read gets no more, and is cut in the end. */
export function sendEvents(
  ctx: StepContext,
  events: AsyncIterable<RestEvent>,
  { commentMs = COMMENT_MS, pace = MIN_DOWNLOAD } = {},
) {
  const { res, state } = ctx
  ctx.respond = false
  forbidStoring(state)
  state.headers.push('Content-Type', `${EVENTS_TYPE}; charset=utf-8`, 'X-Accel-Buffering', 'no')
  res.writeHead(200, state.headers)
  res.write(`retry: ${RETRY_MS + Math.floor(Math.random() * RETRY_MS)}\n\n`)
  const comments = setInterval(() => {
    if (!res.writableNeedDrain) res.write(':\n\n')
  }, commentMs)
  void sendAll(res, events, pace)
    // The client asks again, and sees the error in its answer.
    .catch(() => {})
    .finally(() => {
      clearInterval(comments)
      res.end()
    })
}

async function sendAll(response: ServerResponse, events: AsyncIterable<RestEvent>, pace: typeof MIN_DOWNLOAD) {
  const iterator = events[Symbol.asyncIterator]()
  const writer = new EventWriter(response, pace)
  try {
    while (await sendNext(response, iterator, writer));
  } finally {
    await writer.flush()
    await iterator.return?.()
  }
}

/** A function of its own: a stream that rests keeps no event. False at the end. */
async function sendNext(response: ServerResponse, events: AsyncIterator<RestEvent>, writer: EventWriter) {
  const { done, value } = await events.next()
  if (done) return false
  await writer.add(value)
  return !response.destroyed
}

/** Writes events that come together at once. */
class EventWriter {
  readonly #response: ServerResponse
  readonly #pace: typeof MIN_DOWNLOAD
  #pieces: (string | Buffer)[] = []
  #text = ''
  #length = 0
  #isScheduled = false
  #writing = Promise.resolve()

  constructor(response: ServerResponse, pace: typeof MIN_DOWNLOAD) {
    this.#response = response
    this.#pace = pace
  }

  /** Resolves when the client takes more. */
  async add({ id, data }: RestEvent): Promise<void> {
    this.#text += `id: ${id}\ndata: `
    if (typeof data === 'string') this.#text += data
    else {
      this.#pieces.push(this.#text, data)
      this.#text = ''
    }
    this.#text += '\n\n'
    this.#length += data.length
    if (this.#length >= SLICE_BYTES) return this.flush()
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      void this.flush()
    })
  }

  flush(): Promise<void> {
    if (this.#text === '') return this.#writing
    const pieces = [...this.#pieces, this.#text]
    this.#pieces = []
    this.#text = ''
    this.#length = 0
    this.#writing = this.#writing.then(() => writeSlices(this.#response, pieces, this.#pace))
    return this.#writing
  }
}
