import type { ServerResponse } from 'node:http'
import type { Positioned, RestEvent } from '../../rest-facade/facade.ts'
import { Heartbeat } from './heartbeat.ts'
import type { StepContext } from './state.ts'
import type { Rate } from './transfer-rate.ts'
import { MIN_DOWNLOAD } from './transfer-rate.ts'
import { writeSlices } from './write-slices.ts'

export const EVENTS_TYPE = 'text/event-stream; charset=utf-8'

/** Proxies close a connection without data after 60 s. */
const COMMENTING = new Heartbeat(15_000)

/** A client that has lost its stream waits this long, and up to as long again: those of a stopped node do not all return at once. */
const RETRY_MS = 1_000
export const returnMs = () => RETRY_MS + Math.floor(Math.random() * RETRY_MS)

/** What a stream sends beside its events. */
interface Protocol {
  begin: string
  /** While nothing happens; `position`, where it has moved, is what the client can go on from. */
  idle: (position?: string) => string
  /** After the last event, or where reading has failed. */
  end: (failure?: unknown) => string
}

/**
 * A client asks again after the end, and sees the error in its answer. Only events end with an empty line: fetch-event-source takes
 * each such line for an event, whose data is empty here. It keeps the id of a line alone; eventsource keeps none without an event.
 */
const COMMENTS: Protocol = {
  begin: '',
  idle: (position) => (position === undefined ? ':\n' : `:\nid: ${position}\n`),
  end: () => '',
}

/** Sends a stream of server-sent events after its head. A client that does not read gets no more, and is cut in the end. */
export function sendEvents(
  ctx: StepContext,
  events: Positioned<RestEvent>,
  { heartbeat = COMMENTING, pace = MIN_DOWNLOAD, protocol = COMMENTS } = {},
) {
  const { req, res, state } = ctx
  ctx.respond = false
  state.headers.push('Content-Type', EVENTS_TYPE, 'X-Accel-Buffering', 'no')
  res.writeHead(200, state.headers)
  // A stream at rest would keep its token: 1 KB. (No flushHeaders, which would also keep 1 KB less: 500 streams that return at once
  // to 1,000 entries then catch up in 30 s, not in 12.)
  req.rawHeaders.length = 0
  delete req.headers.authorization
  res.write(`retry: ${returnMs()}\n${protocol.begin}`)
  const writer = new EventWriter(res, pace)
  const { position } = events
  const stopBeating = heartbeat.add(() => writer.idle(() => protocol.idle(position?.())))
  void sendAll(res, events, writer)
    .then(() => protocol.end(), protocol.end)
    .then((last) => {
      stopBeating()
      res.end(last)
    })
}

class EventWriter {
  readonly #response: ServerResponse
  readonly #pace: Rate
  #isWriting = false

  constructor(response: ServerResponse, pace: Rate) {
    this.#response = response
    this.#pace = pace
  }

  /** Resolves when the client takes more. */
  async send({ id, data }: RestEvent): Promise<void> {
    const head = `id: ${id}\ndata: `
    this.#isWriting = true
    await writeSlices(
      this.#response,
      typeof data === 'string' ? [`${head}${data}\n\n`] : [head, data, '\n\n'],
      this.#pace,
    )
    this.#isWriting = false
  }

  /** Not within an event, which may be written in several turns. */
  idle(readText: () => string) {
    if (!this.#isWriting && !this.#response.writableNeedDrain) this.#response.write(readText())
  }
}

async function sendAll(response: ServerResponse, events: AsyncIterable<RestEvent>, writer: EventWriter) {
  const iterator = events[Symbol.asyncIterator]()
  try {
    while (await sendNext(response, iterator, writer));
  } finally {
    await iterator.return?.()
  }
}

/** A function of its own: a stream that rests keeps no event. False at the end. */
async function sendNext(response: ServerResponse, events: AsyncIterator<RestEvent>, writer: EventWriter) {
  const { done, value } = await events.next()
  if (done) return false
  await writer.send(value)
  return !response.destroyed
}
