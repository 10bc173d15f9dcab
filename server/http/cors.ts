import type { Step } from './state.ts'

const EXPOSED = [
  'Retry-After',
  'RateLimit',
  'RateLimit-Policy',
  'ETag',
  'X-Request-Id',
  'WWW-Authenticate',
  'X-Storage-Used',
  'X-Storage-Limit',
  'X-Error-Code',
  'Link',
]
const ALLOWED = [
  'Authorization',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'Idempotency-Key',
  'Last-Event-ID',
  'X-Request-Id',
]

/** On every response of the public port. Any origin is safe: the API uses no cookies, only tokens that a page has. */
export const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED.join(', '),
}

export const preflightHeaders = (allow: string) => ({
  Allow: allow,
  'Access-Control-Allow-Methods': allow,
  'Access-Control-Allow-Headers': ALLOWED.join(', '),
  'Access-Control-Max-Age': '600',
})

const fields = Object.entries(corsHeaders).flat()

export const cors: Step = (ctx, next) => {
  ctx.state.headers.push(...fields)
  return next()
}
