import { ApiError } from '../../routers/kernel/errors.ts'
import { normalizeHost } from '../http/host-name.ts'
import type { BaseUrls } from '../http/match-route.ts'
import type { Step, StepContext } from '../http/state.ts'
import type { Brand } from './brand.ts'
import { setBrand } from './brand.ts'
import { portalLanguage } from './language.ts'
import { overviewPage } from './pages/overview.ts'
import { sendSelfContained } from './pages/self-contained.ts'
import { unknownAddressPage } from './pages/unknown-address.ts'

export interface BrowserPages {
  baseUrls: BaseUrls
  /** Undefined with an external issuer. */
  issuer?: string | undefined
  brand?: Brand | undefined
  /** The developer portal's address, if there is one. */
  portal?: string | undefined
  /** Set on a developer's own machine; `example` is the sample app's address. */
  trial?: (() => { example?: string | undefined }) | undefined
}

/**
 * Serves pages for browsers in place of later steps' 404: the overview at `/` of hosts that serve no API, and a page for unknown
 * addresses. Paths below `/v1` belong to an API and keep its envelope, like every client that does not prefer HTML. All pages of
 * later steps get the brand.
 */
export function browserPages({ baseUrls, issuer, brand, portal, trial }: BrowserPages): Step {
  const auth =
    issuer === undefined ? undefined : { host: normalizeHost(new URL(issuer).host), path: new URL(issuer).pathname }
  const connected = issuer && `${issuer}/connected`
  const overview = overviewAddress(baseUrls.apps)

  const isPage = (ctx: StepContext) => {
    const { host, path } = ctx.state
    if (path !== '/v1' && !path.startsWith('/v1/')) return true
    return auth !== undefined && normalizeHost(host) === auth.host && path.startsWith(`${auth.path}/`)
  }

  return async (ctx, next) => {
    setBrand(ctx, brand)
    try {
      await next()
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404 || !isPage(ctx)) throw error
      ctx.vary('Accept')
      if (!prefersHtml(ctx)) throw error
      ctx.vary('Accept-Language')
      const context = { language: portalLanguage(ctx), brand }
      const { section, host, path, requestId } = ctx.state
      const isAuth = auth !== undefined && normalizeHost(host) === auth.host
      if (path === '/' && section === null && !isAuth) {
        ctx.state.address = path
        sendSelfContained(ctx, overviewPage({ ...context, baseUrls, connected, portal, trial: trial?.() }), 200)
        return
      }
      const api = section === null ? undefined : baseUrls[section]
      const plain = section === null && !isAuth
      const page = unknownAddressPage({
        ...context,
        requestId,
        api,
        connected: isAuth ? connected : undefined,
        overview: overview ?? (plain ? '/' : undefined),
      })
      sendSelfContained(ctx, page, 404)
    }
  }
}

/** True for a browser's navigation, but not for clients that accept anything, such as curl. */
function prefersHtml(ctx: StepContext) {
  if (ctx.method !== 'GET' && ctx.method !== 'HEAD') return false
  return ctx.accepts('json', 'html') === 'html'
}

/** Where the APIs use names of this machine, the overview is at the machine itself: `http://localhost:3000/`. */
function overviewAddress(apps: string) {
  const url = new URL('/', apps)
  if (!url.hostname.endsWith('.localhost')) return undefined
  url.hostname = 'localhost'
  return url.href
}
