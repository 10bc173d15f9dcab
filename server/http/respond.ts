import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Logger } from 'pino'
import { envelope } from '../../rest-facade/envelope.ts'
import { failureOf } from '../../routers/database-errors.ts'
import { ApiError } from '../../routers/errors.ts'
import { send } from './send.ts'
import type { Step } from './state.ts'

/** How much of a body that nobody reads is let in, so that its sender comes to see the answer; then the socket closes. */
const DRAIN_BYTES = 32 * 1024 * 1024
const DRAIN_MS = 10_000

const HEADERS = ['X-Content-Type-Options', 'nosniff', 'Cache-Control', 'private, no-cache']

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/

/** The outermost step: the request's id, the one catch, and one line in the log. */
export function respond(log: Logger, now: () => number): Step {
  return async (ctx, next) => {
    const start = now()
    const given = ctx.req.headers['x-request-id']
    const requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    ctx.state.requestId = requestId
    ctx.state.section = null
    ctx.state.headers = ['X-Request-Id', requestId, ...HEADERS]

    try {
      await next()
    } catch (thrown) {
      const error = thrown instanceof ApiError ? thrown : failureOf(thrown)
      if (error.status >= 500) ctx.state.cause = error.cause
      ctx.state.headers.push(...Object.entries(error.headers).flat())
      const body = JSON.stringify(envelope(error, ctx.state.section, requestId))
      ctx.state.answer = { status: error.status, body }
    }
    if (!ctx.req.complete && !ctx.req.destroyed) {
      const drained = drain(ctx.req)
      // A connection that ends with its answer, while the client still sends, is reset, and the answer lost: so it waits.
      if (!ctx.res.shouldKeepAlive) await drained
      else void drained.then((all) => all || ctx.req.socket.destroy())
    }

    const { method, state } = ctx
    const { answer, path, principal } = state
    if (answer) send(ctx, answer)
    const status = answer?.status ?? ctx.status
    const line = { requestId, method, path, status, ms: now() - start, client: principal?.client }
    if (state.cause) log.error({ ...line, err: state.cause })
    else log.info(line)
  }
}

/** Reads and drops what is left of a body, bounded in size and time; whether that was all of it. */
function drain(request: IncomingMessage): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, DRAIN_MS, false).unref()
    const done = () => {
      clearTimeout(timer)
      resolve(true)
    }
    let left = DRAIN_BYTES
    request.on('data', (chunk: Buffer) => {
      left -= chunk.length
      if (left < 0) resolve(false)
    })
    request.once('close', done).once('end', done).resume()
  })
}
