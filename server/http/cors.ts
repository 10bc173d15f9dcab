import type { IncomingHttpHeaders } from 'node:http'
import type { Step, StepContext } from './state.ts'

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
  'Allow',
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

export const isPreflight = ({ method, req: { headers } }: StepContext) =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined

/** A method or the name of a header, of which browsers have shorter ones. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]{1,64}$/
const MAX_ASKED = 64

/**
 * For OPTIONS: the path's methods, and what a preflight asks for, such as the headers that a page's libraries add (`traceparent`,
 * `baggage`). The request itself decides what a method or header does there; after a refused preflight, a page would not see its
 * answer.
 */
export function preflightHeaders(methods: readonly string[], asked: IncomingHttpHeaders = {}) {
  const { 'access-control-request-method': method = '', 'access-control-request-headers': names = '' } = asked
  const others = names.split(',').map((name) => name.trim())
  return {
    ...(methods.length > 0 && { Allow: methods.join(', ') }),
    'Access-Control-Allow-Methods': withTokens(methods, [method]),
    'Access-Control-Allow-Headers': withTokens(ALLOWED, others),
    'Access-Control-Max-Age': '600',
    Vary: 'Access-Control-Request-Method, Access-Control-Request-Headers',
  }
}

/** A list with the others that are tokens, each once. */
function withTokens(list: readonly string[], others: readonly string[]): string {
  const seen = new Set(list.map((one) => one.toLowerCase()))
  const isNew = (one: string) => !seen.has(one.toLowerCase()) && seen.add(one.toLowerCase())
  return [...list, ...others.filter((one) => TOKEN.test(one) && isNew(one)).slice(0, MAX_ASKED)].join(', ')
}

const fields = Object.entries(corsHeaders).flat()

export const cors: Step = (ctx, next) => {
  ctx.state.headers.push(...fields)
  return next()
}
