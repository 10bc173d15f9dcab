import { hkdfSync } from 'node:crypto'
import { METHODS } from 'node:http'
import Router from '@koa/router'
import type { Database } from '../../prisma/client.ts'
import { productionLimits } from '../../prisma/time-limits.ts'
import { isDocumentAddress } from '../../routers/developer/shared/document-address.ts'
import type { AccessLookup } from '../../routers/kernel/access.ts'
import type { Cipher } from '../../routers/kernel/cipher.ts'
import type { ConsentAges } from '../../routers/kernel/consent-ages.ts'
import type { DueWatch } from '../../routers/kernel/due-watch.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { toIssuer } from '../browser/addresses.ts'
import type { LoginMethods } from '../browser/login/methods.ts'
import { createPageRoutes } from '../browser/page-routes.ts'
import type { ClientAddress } from '../http/client-address.ts'
import { normalizeHost } from '../http/host-name.ts'
import type { MemoryBudget } from '../http/memory-budget.ts'
import { routerStep } from '../http/router-step.ts'
import type { State, Step } from '../http/state.ts'
import type { Limits } from '../limits/limit.ts'
import type { Authenticate } from '../tokens/authenticate.ts'
import { addAppRoutes } from './endpoints/app-routes.ts'
import { resourceNames } from './endpoints/request-parameters.ts'
import { TOKEN_FAILURES, tokenLimit } from './endpoints/token-limit.ts'
import { userinfo } from './endpoints/userinfo.ts'
import { adapterFactory } from './engine/adapter.ts'
import type { DocumentSettings } from './engine/client-documents.ts'
import { clientDocuments } from './engine/client-documents.ts'
import { routes } from './engine/metadata.ts'
import type { SignInFailed } from './engine/provider-handler.ts'
import { createProviderHandler } from './engine/provider-handler.ts'
import type { Realm } from './engine/realm.ts'
import type { OwnCardCodes } from './keys/card-codes.ts'
import type { SigningKeys } from './keys/signing-keys.ts'
import { browserSession } from './pages/browser-session.ts'
import { addPageRoutes } from './pages/page-routes.ts'
import { createSignInRequests } from './pages/sign-in-requests.ts'

export interface MountOptions {
  db: Database
  now: () => number
  cipher: Cipher
  /** The first one signs cookies, all of them verify. */
  secretsKeys: readonly Buffer[]
  keys: SigningKeys
  cards: OwnCardCodes
  /** Verifies tokens that this issuer has issued. */
  authenticate: Authenticate
  findAccess: AccessLookup
  due: DueWatch
  authBaseUrl: string
  realm: Realm
  appsBaseUrl: string
  /** The reference of each API, at this issuer's addresses. */
  references: readonly string[]
  /** The base URLs of the APIs, all that they have. */
  resources: readonly string[]
  loginMethods: LoginMethods
  /** Clubs approve apps before their members can allow them. */
  clubApproval: boolean
  /** MEMBER_MAILS, where there is a mail server. */
  memberMails: boolean
  /** Younger members need the approval of a guardian. */
  consentAges: ConsentAges | null
  /** CLIENT_METADATA: how documents of clients are read. */
  documents?: DocumentSettings | undefined
  clientAddress: ClientAddress
  tokenFailures?: number
  limits: Limits
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
export function mountOauth({ db, now, cipher, secretsKeys, keys, cards, ...options }: MountOptions) {
  const {
    authBaseUrl,
    realm,
    appsBaseUrl,
    loginMethods,
    clubApproval,
    memberMails,
    consentAges,
    clientAddress,
    tokenFailures: failures = TOKEN_FAILURES,
  } = options
  const { authenticate, findAccess, due, limits, memory, requestMs = productionLimits.requestMs } = options
  const issuer = toIssuer(authBaseUrl)
  const { host, protocol, pathname: path } = new URL(issuer)
  const basePath = new URL(authBaseUrl).pathname
  const secure = protocol === 'https:'
  const cookieKeys = secretsKeys.map(deriveCookieKey)
  const router = new Router<State>({ sensitive: true, strict: true, methods: METHODS })
  const pages = createPageRoutes(router, {
    db,
    now,
    cipher,
    issuer,
    loginMethods,
    limits,
    memory,
    requestMs,
    readSession: (ctx) => browserSession(provider(), ctx.req, ctx.res),
  })
  const requests = createSignInRequests(pages.cookies, path)
  const interactionUrl = requests.begin
  const documents = options.documents && clientDocuments({ ...options.documents, now, limits })
  const { provider, handle } = createProviderHandler({
    db,
    now,
    issuer,
    realm,
    references: options.references,
    documents,
    cookieKeys,
    secure,
    interactionUrl,
    keys,
    requestMs,
    clubApproval,
    memberMails,
    replayed: options.replayed,
    signInFailed: options.signInFailed,
  })

  addPageRoutes(
    { db, now, realm, provider, pages, limits, authBaseUrl, cards, clubApproval, consentAges, memberMails, due },
    requests,
    basePath,
  )
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
    findClient: async (id) => (isDocumentAddress(id) ? undefined : provider().Client.find(id)),
    documents: documents !== undefined,
    limit,
    limits,
    memory,
    requestMs,
    nameResource: resourceNames(options.resources),
    userinfo: userinfo({ db, authenticate, findAccess, limits }),
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
