import type Router from '@koa/router'
import { preflightHeaders } from '../http/cors.ts'
import { JSON_TYPE } from '../http/send.ts'
import type { State, StepContext } from '../http/state.ts'
import { metadataOf, routes } from './metadata.ts'
import { setPageHeaders } from './page-responses.ts'

/** RFC 8414, 3.1: an issuer's path comes after the well-known path. */
export const METADATA_PATH = '/.well-known/oauth-authorization-server'

interface Options {
  issuer: string
  /** Responds with oidc-provider's answer for a path below the issuer. */
  handle: (ctx: StepContext, path: string) => Promise<void>
}

/** The endpoints that apps use: authorization in the browser, the others with CORS and JSON. */
export function addAppRoutes(router: Router<State>, { issuer, handle }: Options) {
  const { pathname: path } = new URL(issuer)

  const authorize = (ctx: StepContext) => {
    setPageHeaders(ctx)
    // Codes are returned in the query only: the other modes need a script, in our page or the app's.
    const query = new URLSearchParams(ctx.state.search)
    if ((query.get('response_mode') ?? 'query') !== 'query') {
      query.set('response_mode', 'unsupported')
      ctx.state.search = query.toString()
    }
    return handle(ctx, ctx.state.path.slice(path.length))
  }
  router.get([`${path}${routes.authorization}`, `${path}${routes.authorization}/:uid`], authorize as never)

  /** Open to every origin: these endpoints read no cookies. */
  const endpoint = (method: 'get' | 'post', addresses: string[], respond: (ctx: StepContext) => unknown) => {
    router[method](addresses, respond as never)
    router.options(addresses, ((ctx: StepContext) => {
      ctx.set(preflightHeaders(method === 'get' ? 'GET, HEAD' : 'POST'))
      ctx.status = 204
    }) as never)
  }
  const json = (ctx: StepContext) => {
    // Else oidc-provider responds to errors with a page where one is accepted.
    ctx.req.headers.accept = 'application/json'
    return handle(ctx, ctx.state.path.slice(path.length))
  }
  endpoint('post', [`${path}${routes.token}`, `${path}${routes.revocation}`], json)
  endpoint('get', [`${path}${routes.jwks}`], json)

  const metadata = JSON.stringify(metadataOf(issuer))
  endpoint('get', [`${path}${METADATA_PATH}`, `${METADATA_PATH}${path}`], (ctx) => {
    ctx.type = JSON_TYPE
    ctx.body = metadata
  })
}
