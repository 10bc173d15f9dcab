import { hkdfSync } from 'node:crypto'
import { METHODS } from 'node:http'
import Router from '@koa/router'
import { productionLimits } from '../../prisma/time-limits.ts'
import { isDocumentAddress } from '../../routers/developer/shared/document-address.ts'
import type { AccessLookup } from '../../routers/kernel/access.ts'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { toIssuer } from '../browser/addresses.ts'
import type { LoginMethods } from '../browser/login/methods.ts'
import { createPageRoutes } from '../browser/page-routes.ts'
import type { ClientAddress } from '../http/client-address.ts'
import { normalizeHost } from '../http/host-name.ts'
import type { MemoryBudget } from '../http/memory-budget.ts'
import { routerStep } from '../http/router-step.ts'
import type { State, Step } from '../http/state.ts'
import type { Authenticate } from '../tokens/authenticate.ts'
import { addAppRoutes } from './endpoints/app-routes.ts'
import { resourceNames } from './endpoints/request-parameters.ts'
import { TOKEN_FAILURES, tokenLimit } from './endpoints/token-limit.ts'
import { userinfo } from './endpoints/userinfo.ts'
import { adapterFactory } from './engine/adapter.ts'
import { documentClient } from './engine/client-document.ts'
import type { DocumentSettings } from './engine/client-documents.ts'
import { clientDocuments } from './engine/client-documents.ts'
import type { SignInFailed } from './engine/provider-handler.ts'
import { createProviderHandler } from './engine/provider-handler.ts'
import { routes } from './engine/routes.ts'
import type { SigningKeys } from './keys/signing-keys.ts'
import { browserSession } from './pages/browser-session.ts'
import type { PageOptions } from './pages/page-options.ts'
import { addPageRoutes } from './pages/page-routes.ts'
import { createSignInRequests } from './pages/sign-in-requests.ts'

export interface MountOptions extends Omit<PageOptions, 'provider' | 'pages'> {
  /** As of `Core`. */
  steady: () => number
  cipher: Cipher
  /** The first one signs cookies, all of them verify. */
  secretsKeys: readonly Buffer[]
  keys: SigningKeys
  /** Verifies tokens that this issuer has issued. */
  authenticate: Authenticate
  findAccess: AccessLookup
  appsBaseUrl: string
  /** The reference of each API, at this issuer's addresses. */
  references: readonly string[]
  /** The base URLs of the APIs, all that they have. */
  resources: readonly string[]
  loginMethods: LoginMethods
  /** CLIENT_METADATA: how documents of clients are read. */
  documents?: DocumentSettings | undefined
  clientAddress: ClientAddress
  tokenFailures?: number
  memory: MemoryBudget
  requestMs?: number
  /** Called for each grant that a replayed refresh token has ended. */
  replayed?: (() => void) | undefined
  /** Called after a request of a known client that has failed. */
  signInFailed?: SignInFailed | undefined
}

/** The names of the endpoints in metrics and spans; pages and others are `oauth`. */
const operations = new Map(Object.entries(routes).map(([name, path]) => [path, `oauth.${name}`]))

const deriveCookieKey = (secretsKey: Buffer) =>
  Buffer.from(hkdfSync('sha256', secretsKey, '', 'oauth cookies', 32)).toString('base64url')

/**
 * The authorization server at AUTH_BASE_URL's host: pages for browsers and endpoints for apps. As documented, the token endpoint
 * is also at the apps host. `step` gets the requests of its paths, and throws 404 at another host; other folders add their pages
 * to `pages`.
 */
export function mountOauth({ cipher, secretsKeys, ...options }: MountOptions) {
  const { db, now, steady, keys, authBaseUrl, realm, appsBaseUrl, clientAddress, limits, memory } = options
  const { tokenFailures: failures = TOKEN_FAILURES, requestMs = productionLimits.requestMs } = options
  const issuer = toIssuer(authBaseUrl)
  const { host, protocol, pathname: path } = new URL(issuer)
  const basePath = new URL(authBaseUrl).pathname
  const secure = protocol === 'https:'
  const cookieKeys = secretsKeys.map(deriveCookieKey)
  const router = new Router<State>({ sensitive: true, strict: true, methods: METHODS })
  const pages = createPageRoutes(router, {
    ...options,
    cipher,
    issuer,
    requestMs,
    readSession: (ctx) => browserSession(provider(), ctx.req, ctx.res),
  })
  const requests = createSignInRequests(pages.cookies, path)
  const documents = options.documents && clientDocuments({ ...options.documents, now: steady, limits })
  const { provider, handle } = createProviderHandler({
    ...options,
    issuer,
    documents,
    cookieKeys,
    secure,
    interactionUrl: requests.begin,
    requestMs,
  })

  addPageRoutes({ ...options, provider, pages }, requests, basePath)
  const limit = tokenLimit({
    storage: adapterFactory({ db, now, realm, signsWith: keys.signsWith }),
    now,
    failures,
    limits,
  })
  addAppRoutes(router, {
    issuer,
    basePath,
    cardKeys: keys.cards.published,
    handle,
    findClient: async (id) => (isDocumentAddress(id) ? documents && documentClient : provider().Client.find(id)),
    documents: documents !== undefined,
    limit,
    limits,
    memory,
    requestMs,
    nameResource: resourceNames(options.resources),
    userinfo: userinfo(options),
  })

  const respond = routerStep(router)
  const [authHost, appsHost] = [normalizeHost(host), normalizeHost(new URL(appsBaseUrl).host)]
  const step: Step = (ctx, next) => {
    const requested = ctx.state.path
    const name = normalizeHost(ctx.state.host)
    const isTokenAtAppsHost = name === appsHost && requested === `${path}${routes.token}`
    if (name !== authHost && !isTokenAtAppsHost) throw errors.hostWrong(host)
    if (basePath !== '/v1') ctx.state.base = basePath
    ctx.state.operation = operations.get(requested.slice(path.length)) ?? 'oauth'
    ctx.state.clientAddress = clientAddress(ctx.req)
    // oidc-provider builds URLs from these headers. They follow the issuer, never what a client sends.
    const { headers } = ctx.req
    headers.host = host
    headers['x-forwarded-proto'] = protocol.slice(0, -1)
    delete headers['x-forwarded-host']
    delete headers['x-forwarded-for']
    return respond(ctx, next)
  }
  return { step, pages }
}
