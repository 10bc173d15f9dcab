import type { Route } from '../../rest-facade/routes.ts'
import { routes } from '../../rest-facade/routes.ts'
import { isTool } from '../../rest-facade/tools.ts'
import { errors } from '../../routers/kernel/errors.ts'
import type { Section } from '../../routers/kernel/scopes.ts'
import { preflightHeaders } from './cors.ts'
import type { BaseUrls } from './match-route.ts'
import { MCP, MCP_PATH, RESOURCE_PATH } from './resource-metadata.ts'
import { JSON_TYPE } from './send.ts'
import type { Step } from './state.ts'

/** Which of a resource's documents: without a path for clients that look at the host alone. */
const PATHS = new Set(['', '/', '/v1', '/v1/'].map((path) => `${RESOURCE_PATH}${path}`))

const PATH_OF_MCP = `${RESOURCE_PATH}${MCP_PATH}`

const ALLOW = 'GET, HEAD'

export interface Resources {
  baseUrls: BaseUrls
  /** In the trial: paths of localhost. */
  localUrls?: BaseUrls | undefined
  /** The authorization server of these and of those; undefined where its name is no address. */
  issuer: string | undefined
  localIssuer: string | undefined
}

/** Serves what RFC 9728 says of each API, at its host and without a token: who issues its tokens, and their scopes. */
export function protectedResources({ baseUrls, localUrls, issuer, localIssuer }: Resources): Step {
  const buildDocument = (base: string, section: Section, server: string | undefined, isOfMcp: boolean) =>
    JSON.stringify({
      resource: isOfMcp ? `${base}${MCP}` : base,
      ...(server !== undefined && { authorization_servers: [server] }),
      scopes_supported: isOfMcp ? toolScopes : listScopes((route) => route.section === section),
      bearer_methods_supported: ['header'],
      resource_documentation: isOfMcp ? `${base}/docs/mcp` : `${base}/docs`,
    })
  return (ctx, next) => {
    const { path, section, base } = ctx.state
    const isOfMcp = section === 'sync' && path === PATH_OF_MCP
    if (section === null || !(isOfMcp || PATHS.has(path))) return next()
    ctx.state.operation = 'protected-resource'
    ctx.state.address = RESOURCE_PATH
    if (ctx.method === 'OPTIONS') {
      ctx.set(preflightHeaders(ALLOW.split(', '), ctx.req.headers))
      ctx.status = 204
      return
    }
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') throw errors.methodWrong(ALLOW)
    ctx.type = JSON_TYPE
    ctx.body =
      base !== undefined && localUrls
        ? buildDocument(localUrls[section], section, localIssuer, isOfMcp)
        : buildDocument(baseUrls[section], section, issuer, isOfMcp)
  }
}

/** The scopes with which some endpoints can be called. */
const listScopes = (isOne: (route: Route) => boolean) => [
  ...new Set(routes.filter(isOne).flatMap(({ meta }) => meta.scope ?? [])),
]

const toolScopes = listScopes(isTool)
