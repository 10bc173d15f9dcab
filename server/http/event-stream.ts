import type { ServerResponse } from 'node:http'
import type { RestEvent } from '../../rest-facade/facade.ts'
import { forbidStoring } from './respond.ts'
import type { StepContext } from './state.ts'
import { MIN_DOWNLOAD, watchRate } from './transfer-rate.ts'

export const EVENTS_TYPE = 'text/event-stream'

/** Proxies close a connection without data after 60 s. */
const COMMENT_MS = 15_000

/** A client that has lost its stream waits this long, and up to as long again: those of a stopped node do not all return at once. */
const RETRY_MS = 1_000

const SLICE_BYTES = 64 * 1024

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
  for await (const { id, data } of events) {
    const head = `id: ${id}\ndata: `
    if (typeof data === 'string' && data.length <= SLICE_BYTES) await write(response, pace, [`${head}${data}\n\n`])
    else await write(response, pace, [head, ...slicesOf(Buffer.from(data)), '\n\n'])
    if (response.destroyed) return
  }
}

function* slicesOf(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) yield bytes.subarray(at, at + SLICE_BYTES)
}

/** Resolves when the client takes more. */
async function write(response: ServerResponse, pace: typeof MIN_DOWNLOAD, slices: readonly (string | Buffer)[]) {
  let sent = 0
  let stopWatching: (() => void) | undefined
  for (const slice of slices) {
    if (response.destroyed) break
    sent += slice.length
    if (response.write(slice)) continue
    stopWatching ??= watchRate(
      pace,
      () => sent,
      () => response.destroy(),
    )
    await new Promise<void>((resolve) => {
      const goOn = () => {
        response.off('drain', goOn).off('close', goOn)
        resolve()
      }
      response.on('drain', goOn).on('close', goOn)
    })
  }
  stopWatching?.()
}
