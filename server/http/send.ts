import type { RestResponse } from '../../rest-facade/facade.ts'
import type { Step, StepContext } from './state.ts'
import { MIN_DOWNLOAD } from './transfer-rate.ts'
import { SLICE_BYTES, writeSlices } from './write-slices.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

/**
 * Sends all headers at once: when they are set one by one, Node stores, looks up and checks each, which took a tenth of a
 * request.
 */
export function send(ctx: StepContext, { status, body, type = JSON_TYPE }: RestResponse) {
  // Koa handles a client that has disconnected.
  if (!ctx.writable) return
  const { headers } = ctx.state
  if (body !== undefined) headers.push('Content-Type', type, 'Content-Length', String(Buffer.byteLength(body)))
  ctx.respond = false
  ctx.res.writeHead(status, headers)
  // Node may still hold the last bytes when all are written.
  if (body !== undefined && body.length > SLICE_BYTES) ctx.res.setTimeout(MIN_DOWNLOAD.graceMs)
  if (body instanceof Buffer) void writeSlices(ctx.res, [body], MIN_DOWNLOAD).then(() => ctx.res.end())
  else ctx.res.end(body)
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
