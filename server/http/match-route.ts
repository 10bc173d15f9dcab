import type { Route } from '../../rest-facade/routes.ts'
import { routesAt, segmentsOf } from '../../rest-facade/routes.ts'
import { errors } from '../../routers/errors.ts'
import type { Section } from '../../routers/scopes.ts'
import { preflightHeaders } from './cors.ts'
import type { Step, StepContext } from './state.ts'

export type BaseUrls = Record<Section, string>

/** What hosts are compared by. */
export const nameOf = (host: string) => host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')

/** Which endpoint a request is for, and whether it came to that endpoint's host. Before anything else is looked at. */
export function locate(baseUrls: BaseUrls): Step {
  const hosts = Object.entries(baseUrls).map(([section, url]) => {
    const { host } = new URL(url)
    return { section: section as Section, host, name: nameOf(host) }
  })
  const own = new Map(hosts.map((one) => [one.section, one]))

  return (ctx, next) => {
    const name = nameOf(ctx.state.host)
    ctx.state.section = hosts.find((one) => one.name === name)?.section ?? null
    checkFraming(ctx)
    const segments = segmentsOf(ctx.state.path)
    const found = segments ? routesAt(segments) : []
    if (!segments || !found[0]) return next()
    const { section } = found[0]
    ctx.state.section = section
    const here = own.get(section)!
    if (here.name !== name) throw errors.hostWrong(here.host)

    const method = ctx.method === 'HEAD' ? 'GET' : ctx.method
    const route = found.find((one) => one.method === method)
    if (!route) return otherMethod(ctx, found)
    ctx.state.route = route
    ctx.state.segments = segments
    return next()
  }
}

/** OPTIONS is a preflight, which has no token; whatever else is left is 405. */
function otherMethod(ctx: StepContext, found: readonly Route[]) {
  const allow = found.map(({ method }) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ')
  if (ctx.method !== 'OPTIONS') throw errors.methodWrong(allow)
  ctx.state.headers.push(...Object.entries(preflightHeaders(allow)).flat())
  ctx.state.answer = { status: 204, body: undefined }
}

/** HTTP/1.1 wants exactly one Host header; two, or two lengths of a body, are how a request is smuggled past a proxy. */
function checkFraming(ctx: StepContext) {
  const count = countOf(ctx.req.rawHeaders, 'host')
  if (count > 1 || (count === 0 && ctx.req.httpVersion === '1.1')) throw errors.requestInvalid()
  // Node lets an empty Transfer-Encoding pass beside a Content-Length.
  const { headers } = ctx.req
  if (headers['transfer-encoding'] === undefined || headers['content-length'] === undefined) return
  ctx.res.shouldKeepAlive = false
  throw errors.requestInvalid()
}

/** How often a header was sent; Node itself keeps only the first of some. */
export function countOf(rawHeaders: readonly string[], name: string): number {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i]!
    if (given.length === name.length && given.toLowerCase() === name) count++
  }
  return count
}
