import type { Route } from '../../rest-facade/routes.ts'
import { parseSegments, routesAt } from '../../rest-facade/routes.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'
import { headerCount } from '../tokens/authenticate.ts'
import { isPreflight, preflightHeaders } from './cors.ts'
import { normalizeHost } from './host-name.ts'
import { forbidStoring } from './respond.ts'
import type { Step, StepContext } from './state.ts'

export type BaseUrls = Record<Section, string>
/** The additional addresses of a trial: of the APIs and the authorization server. */
export type LocalUrls = BaseUrls & { auth: string }

/** First segments of what is about a member, and may lie on no disk: a code of a card is good for a day. */
const PERSONAL: ReadonlySet<string> = new Set(['me', 'membercard'])

/** Throws 404 at another section's host and 405 for another method. */
export function matchRoute(baseUrls: BaseUrls): Step {
  const hosts = sectionNames.map((section) => {
    const { host } = new URL(baseUrls[section])
    return { section, host, name: normalizeHost(host) }
  })
  const own = new Map<Section, (typeof hosts)[number]>(hosts.map((one) => [one.section, one]))

  return (ctx, next) => {
    const name = normalizeHost(ctx.state.host)
    ctx.state.section = hosts.find((one) => one.name === name)?.section ?? null
    checkFraming(ctx)
    const segments = parseSegments(ctx.state.path)
    const found = segments ? routesAt(segments) : []
    if (isPreflight(ctx)) return answerOptions(ctx, found)
    if (!segments || !found[0]) return next()
    const { section } = found[0]
    ctx.state.section = section
    ctx.state.pattern = found[0].path
    if (PERSONAL.has(segments[0]!)) forbidStoring(ctx.state)
    const here = own.get(section)!
    if (here.name !== name) throw errors.hostWrong(here.host)

    const method = ctx.method === 'HEAD' ? 'GET' : ctx.method
    const route = found.find((one) => one.method === method)
    if (!route && ctx.method === 'OPTIONS') return answerOptions(ctx, found)
    if (!route) throw errors.methodWrong(listMethods(found).join(', '))
    ctx.state.route = route
    ctx.state.segments = segments
    return next()
  }
}

const listMethods = (found: readonly Route[]) =>
  found.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : method))

/** Without a token. A preflight passes at every path and host, also of pages: no page may send cookies with what follows. */
function answerOptions(ctx: StepContext, found: readonly Route[]) {
  if (found[0]) ctx.state.pattern = found[0].path
  ctx.state.operation = 'preflight'
  ctx.state.headers.push(...Object.entries(preflightHeaders(listMethods(found), ctx.req.headers)).flat())
  ctx.state.response = { status: 204, body: undefined }
}

/** Requires exactly one Host header (RFC 9112), and one framing of the body: another would let a request be smuggled past a proxy. */
function checkFraming(ctx: StepContext) {
  const count = headerCount(ctx.req.rawHeaders, 'host')
  if (count > 1 || (count === 0 && ctx.req.httpVersion === '1.1')) throw errors.requestInvalid()
  const { headers, httpVersion } = ctx.req
  if (headers['transfer-encoding'] === undefined) return
  // Node accepts an empty Transfer-Encoding with a Content-Length, and any in HTTP/1.0, which has none (RFC 9112, 6.1).
  if (headers['content-length'] === undefined && httpVersion === '1.1') return
  ctx.res.shouldKeepAlive = false
  throw errors.requestInvalid()
}
