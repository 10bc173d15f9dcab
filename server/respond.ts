import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import { envelope } from '../rest-facade/envelope.ts'
import { failureOf } from '../routers/database-errors.ts'
import { ApiError } from '../routers/errors.ts'
import type { Step } from './state.ts'

/** How much of a body that nobody reads is let in, so that its sender comes to see the answer; then the socket closes. */
const DRAIN_BYTES = 32 * 1024 * 1024
const DRAIN_MS = 10_000

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/

/** The outermost step: the request's id, the one catch, and one line in the log. */
export function respond(log: Logger, now: () => number): Step {
  return async (ctx, next) => {
    const start = now()
    const given = ctx.get('x-request-id')
    const requestId = REQUEST_ID.test(given) ? given : randomUUID()
    ctx.state.requestId = requestId
    ctx.state.section = null
    ctx.set('X-Request-Id', requestId)
    ctx.set('X-Content-Type-Options', 'nosniff')
    ctx.set('Cache-Control', 'private, no-cache')

    let cause: unknown
    try {
      await next()
    } catch (thrown) {
      const error = thrown instanceof ApiError ? thrown : failureOf(thrown)
      if (error.status >= 500) cause = error.cause
      ctx.status = error.status
      ctx.set(error.headers)
      ctx.type = 'application/json; charset=utf-8'
      ctx.body = JSON.stringify(envelope(error, ctx.state.section, requestId))
    }
    if (!ctx.req.complete) drain(ctx.req)

    const { method, status, state } = ctx
    const line = { requestId, method, path: state.path, status, ms: now() - start, client: state.principal?.client }
    if (cause) log.error({ ...line, err: cause })
    else log.info(line)
  }
}

/** Reads and drops what is left of a body, bounded in size and time. */
function drain(request: IncomingMessage) {
  const giveUp = () => request.socket.destroy()
  const timer = setTimeout(giveUp, DRAIN_MS).unref()
  let left = DRAIN_BYTES
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) giveUp()
  })
  request.once('close', () => clearTimeout(timer))
  request.once('end', () => clearTimeout(timer))
  request.resume()
}
