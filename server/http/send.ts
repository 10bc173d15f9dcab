import type { ServerResponse } from 'node:http'
import type { RestResponse } from '../../rest-facade/facade.ts'
import { MIN_DOWNLOAD, watchRate } from '../../rest-facade/transfer-rate.ts'
import type { Step, StepContext } from './state.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Handed to the system at once, so that it shows how much the client takes. */
const SLICE_BYTES = 64 * 1024

/**
 * Sends an answer with all of its headers at once: one that is set by itself Node keeps, looks up and checks by itself,
 * and of them all that took a tenth of a request.
 */
export function send(ctx: StepContext, { status, body }: RestResponse) {
  // Koa knows what to do when the client has gone.
  if (!ctx.writable) return
  const { headers } = ctx.state
  if (body !== undefined) headers.push('Content-Type', JSON_TYPE, 'Content-Length', String(Buffer.byteLength(body)))
  ctx.respond = false
  ctx.res.writeHead(status, headers)
  if (body instanceof Buffer) return sendLarge(ctx.res, body)
  if (body !== undefined && body.length > SLICE_BYTES) ctx.res.setTimeout(MIN_DOWNLOAD.graceMs)
  ctx.res.end(body)
}

/** Sends a body whose head is written, and cuts the connection if the client takes it too slowly. */
function sendLarge(response: ServerResponse, body: Buffer) {
  let sent = 0
  const stopWatching = watchRate(
    MIN_DOWNLOAD,
    () => sent,
    () => response.destroy(),
  )
  response.once('close', stopWatching)
  const sendSlices = () => {
    while (sent < body.length) {
      const slice = body.subarray(sent, sent + SLICE_BYTES)
      sent += slice.length
      if (!response.write(slice)) return void response.once('drain', sendSlices)
    }
    response.end()
  }
  sendSlices()
}

/** Whether the client has what would be sent: Koa compares the ETag with its If-None-Match, for GET and HEAD. */
export function isFresh(ctx: StepContext, { status }: RestResponse): boolean {
  if (ctx.req.headers['if-none-match'] === undefined) return false
  setHeaders(ctx)
  ctx.status = status
  return ctx.fresh
}

/** The steps behind this one leave their answers to Koa, which sends what is set. */
export const koaSends: Step = (ctx, next) => {
  setHeaders(ctx)
  return next()
}

/** What is set may be removed again, so it does not stay in the list. */
function setHeaders({ res, state }: StepContext) {
  const { headers } = state
  for (let i = 0; i < headers.length; i += 2) res.setHeader(headers[i]!, headers[i + 1]!)
  state.headers = []
}
