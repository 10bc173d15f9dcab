import type { IncomingMessage } from 'node:http'
import { routesAt, segmentsOf } from '../rest-facade/routes.ts'
import { errors } from '../routers/errors.ts'
import type { Section } from '../routers/trpc.ts'
import { preflightHeaders } from './cors.ts'
import type { Step } from './state.ts'

export type BaseUrls = Record<Section, string>

const nameOf = (host: string) => host.toLowerCase().replace(/:\d*$/, '').replace(/\.$/, '')

/** Which endpoint a request is for, and whether it came to that endpoint's host. Before anything else is looked at. */
export function locate(baseUrls: BaseUrls): Step {
  const hosts = Object.entries(baseUrls).map(([section, url]) => ({
    section: section as Section,
    host: new URL(url).host,
  }))
  const hostOf = new Map(hosts.map(({ section, host }) => [section, host]))

  return (ctx, next) => {
    const { host, path, search } = targetOf(ctx.req)
    Object.assign(ctx.state, { path, search })
    const name = nameOf(host)
    ctx.state.section = hosts.find((own) => nameOf(own.host) === name)?.section ?? null
    checkHostHeaders(ctx.req)
    if (!path.startsWith('/')) throw errors.addressUnknown()
    ctx.req.url = search ? `${path}?${search}` : path

    const segments = segmentsOf(path)
    const found = segments ? routesAt(segments) : []
    if (!segments || !found[0]) return next()
    const { section } = found[0]
    ctx.state.section = section
    const own = hostOf.get(section)!
    if (nameOf(own) !== name) throw errors.hostWrong(own)

    const allow = found.map(({ method }) => (method === 'GET' ? 'GET, HEAD' : method)).join(', ')
    if (ctx.method === 'OPTIONS') {
      ctx.set(preflightHeaders(allow))
      ctx.status = 204
      return
    }
    const method = ctx.method === 'HEAD' ? 'GET' : ctx.method
    const route = found.find((one) => one.method === method)
    if (!route) throw errors.methodWrong(allow)
    Object.assign(ctx.state, { route, segments })
    return next()
  }
}

/**
 * The request target, read by hand: `new URL` folds `..`, `%2e` and `\`, and throws. An absolute one names its own host
 * (RFC 9112, 3.2.2).
 */
function targetOf({ url = '/', headers }: IncomingMessage) {
  const [, authority, rest] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(url) ?? [undefined, headers.host ?? '', url]
  const target = rest === '' || rest!.startsWith('?') ? `/${rest}` : rest!
  const cut = target.indexOf('?')
  if (cut < 0) return { host: authority!, path: target, search: '' }
  return { host: authority!, path: target.slice(0, cut), search: target.slice(cut + 1) }
}

/** HTTP/1.1 wants exactly one Host header; two are how a request is smuggled past a proxy. */
function checkHostHeaders({ rawHeaders, httpVersion }: IncomingMessage) {
  const count = countOf(rawHeaders, 'host')
  if (count > 1 || (count === 0 && httpVersion === '1.1')) throw errors.requestInvalid()
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
