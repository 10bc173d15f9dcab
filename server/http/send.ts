import type { ServerResponse } from 'node:http'
import type { RestResponse } from '../../rest-facade/facade.ts'
import type { Step, StepContext } from './state.ts'
import { MIN_DOWNLOAD, watchRate } from './transfer-rate.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Written in slices, so that the client's pace can be measured. */
const SLICE_BYTES = 64 * 1024

/** Bytes written before other requests are processed: the system takes some 4 MB at once, which may last 20 ms. */
const TURN_BYTES = 512 * 1024

/**
 * Sends all headers at once: when they are set one by one, Node stores, looks up and checks each, which took a tenth of a
 * request.
 */
export function send(ctx: StepContext, { status, body }: RestResponse) {
  // Koa handles a client that has disconnected.
  if (!ctx.writable) return
  const { headers } = ctx.state
  if (body !== undefined) headers.push('Content-Type', JSON_TYPE, 'Content-Length', String(Buffer.byteLength(body)))
  ctx.respond = false
  ctx.res.writeHead(status, headers)
  if (body instanceof Buffer) return sendLarge(ctx.res, body)
  if (body !== undefined && body.length > SLICE_BYTES) ctx.res.setTimeout(MIN_DOWNLOAD.graceMs)
  ctx.res.end(body)
}

/** Sends a body whose head is written, and cuts the connection if the client reads too slowly. */
function sendLarge(response: ServerResponse, body: Buffer) {
  let [sent, turnEnd] = [0, TURN_BYTES]
  const stopWatching = watchRate(
    MIN_DOWNLOAD,
    () => sent,
    () => response.destroy(),
  )
  response.once('close', stopWatching)
  const nextTurn = () => {
    turnEnd = sent + TURN_BYTES
    if (!response.destroyed) sendSlices()
  }
  const sendSlices = () => {
    while (sent < body.length) {
      if (sent >= turnEnd) return void setImmediate(nextTurn)
      const slice = body.subarray(sent, sent + SLICE_BYTES)
      sent += slice.length
      if (!response.write(slice)) return void response.once('drain', sendSlices)
    }
    response.end()
  }
  sendSlices()
}

export function isFresh(ctx: StepContext, { status }: RestResponse): boolean {
  if (ctx.req.headers['if-none-match'] === undefined) return false
  setHeaders(ctx)
  ctx.status = status
  return ctx.fresh
}

/** Sets the collected headers for the steps that leave sending to Koa. */
export const koaSends: Step = (ctx, next) => {
  setHeaders(ctx)
  return next()
}

/** Empties the list, as later steps may remove a header again. */
function setHeaders({ res, state }: StepContext) {
  const { headers } = state
  for (let i = 0; i < headers.length; i += 2) res.setHeader(headers[i]!, headers[i + 1]!)
  state.headers = []
}
