import type { IncomingHttpHeaders } from 'node:http'
import type Router from '@koa/router'
import type { JWK } from 'jose'
import { isIdentityScope } from '../../../routers/kernel/identity-scopes.ts'
import { CARD_KEYS_PATH, METADATA_PATH } from '../../browser/addresses.ts'
import { readForm } from '../../browser/forms.ts'
import { redirect, sendMessage } from '../../browser/page-responses.ts'
import { setPageHeaders } from '../../browser/send-page.ts'
import { toNetwork } from '../../http/client-address.ts'
import { preflightHeaders } from '../../http/cors.ts'
import type { MemoryBudget } from '../../http/memory-budget.ts'
import { computeTag, isRevalidated } from '../../http/revalidation.ts'
import { JSON_TYPE } from '../../http/send.ts'
import type { State, StepContext } from '../../http/state.ts'
import type { Limits } from '../../limits/limit.ts'
import { requestLimit } from '../../limits/limit.ts'
import { allowedScopes } from '../consents/authorize-scopes.ts'
import { buildMetadata, openidConfiguration } from '../engine/metadata.ts'
import { withinDeadline } from '../engine/provider-handler.ts'
import { routes } from '../engine/routes.ts'
import { parseBasicHeader } from './basic-header.ts'
import { asksForOpenid, plainRequest } from './normalize-authorization.ts'
import type { FindClient } from './renewal-scopes.ts'
import { dropUnknownScopes } from './renewal-scopes.ts'
import type { NameResource } from './request-parameters.ts'
import { dropHints, parseQuery, QUERY_TOO_LONG } from './request-parameters.ts'
import { reserveBody, rewriteForm } from './token-body.ts'
import { tooMany } from './token-limit.ts'

/**
 * A public client has no secret, but some libraries send its id in the header all the same, with an empty one. Moves it into the
 * form, and returns whether it has.
 */
async function namePublicClient(
  headers: IncomingHttpHeaders,
  form: URLSearchParams,
  findClient: FindClient,
): Promise<boolean> {
  const { id, secret } = parseBasicHeader(headers.authorization) ?? {}
  if (!id || secret !== '') return false
  // oidc-provider refuses two clients.
  if (form.getAll('client_id').some((one) => one !== '' && one !== id)) return false
  if ((await findClient(id))?.clientAuthMethod !== 'none') return false
  delete headers.authorization
  form.set('client_id', id)
  return true
}

/** OpenID Connect Discovery, 4: it comes after an issuer's path. */
const OPENID_PATH = '/.well-known/openid-configuration'

/** Authorization requests per minute and network. */
export const MAX_REQUESTS = 300
/** Requests for device codes per minute and network: each code is stored, and secrets might be guessed. */
export const MAX_DEVICE_CODES = 60
/** How long readers may store the keys of cards: a revoked one is then forgotten. */
const CARD_KEYS_SECONDS = 3_600
/** Koa reads parameters in quadratic time: the 2,000 of one letter that fit took 40 ms. */
const MAX_PARAMETERS = 100

const ALLOW = { get: ['GET', 'HEAD'], post: ['POST'] } as const

interface Options {
  issuer: string
  /** The path of AUTH_BASE_URL. */
  basePath: string
  cardKeys: () => JWK[]
  handle: (ctx: StepContext, path: string, search?: string) => Promise<void>
  findClient: FindClient
  /** CLIENT_METADATA. */
  documents: boolean
  nameResource: NameResource
  userinfo: (ctx: StepContext) => Promise<void>
  limit: (ctx: StepContext, respond: () => Promise<void>) => Promise<void>
  limits: Limits
  memory: MemoryBudget
  requestMs: number
}

/** The endpoints that apps use: authorization in the browser, the others with CORS and JSON. */
export function addAppRoutes(router: Router<State>, options: Options) {
  const { issuer, basePath, cardKeys, handle, findClient, documents, nameResource, userinfo, limit } = options
  const { limits, memory, requestMs } = options
  const { pathname: path } = new URL(issuer)
  const handleBelow = (ctx: StepContext) => handle(ctx, ctx.state.path.slice(path.length))
  const findIdentityScopes = async (id: string) => {
    const client = await findClient(id)
    return client ? allowedScopes(client).filter(isIdentityScope) : []
  }
  /** What clients send in several ways, as oidc-provider reads it. `also` changes the form further, and returns whether it has. */
  const plainForm = (ctx: StepContext, also: (form: URLSearchParams) => boolean = () => false) =>
    rewriteForm(ctx.req, async (form) => {
      const changes = [
        await namePublicClient(ctx.req.headers, form, findClient),
        await dropUnknownScopes(ctx.req.headers, form, findClient),
        nameResource(form),
        also(form),
      ]
      return changes.includes(true)
    })
  const isWithinLimit = requestLimit(limits, 'authorizations', MAX_REQUESTS)

  const limited = async (ctx: StepContext, respond: () => Promise<void>) => {
    if (await isWithinLimit(toNetwork(ctx.state.clientAddress ?? ''))) return respond()
    ctx.set('Retry-After', '60')
    sendMessage(ctx, 'tooManyRequests', 429)
  }

  router.get(`${path}${routes.authorization}`, (ctx) =>
    limited(ctx, async () => {
      const { search } = ctx.state
      const query = parseQuery(search)
      if (!query) return sendMessage(ctx, 'requestWrong', 400, QUERY_TOO_LONG)
      if (search.split('&').length > MAX_PARAMETERS) {
        return sendMessage(ctx, 'requestWrong', 400, `the query has more than ${MAX_PARAMETERS} parameters`)
      }
      setPageHeaders(ctx)
      return withinDeadline(ctx, requestMs, async () => {
        const client = query.get('client_id') ?? ''
        nameResource(query)
        const plain = plainRequest(query, asksForOpenid(query) ? await findIdentityScopes(client) : [])
        await handle(ctx, routes.authorization, plain)
      })
    }),
  )
  // Browsers send no cookies of this host with a form of another site: they repeat the request by GET.
  const asked = [routes.authorization, routes.end_session].map((address) => `${path}${address}`)
  router.post(asked, (ctx) =>
    limited(ctx, () =>
      withinDeadline(ctx, requestMs, async () => {
        const form = await readForm(ctx).catch(() => null)
        if (form) redirect(ctx, `${ctx.state.path}?${form}`)
        else sendMessage(ctx, 'requestWrong', 400, 'the body is not a form of at most 8 KiB')
      }),
    ),
  )
  router.get(`${path}${routes.authorization}/:uid`, (ctx) => {
    setPageHeaders(ctx)
    return handleBelow(ctx)
  })

  /** Open to every origin: these endpoints read no cookies. */
  const endpoint = (
    methods: readonly (keyof typeof ALLOW)[],
    addresses: string[],
    respond: (ctx: StepContext) => unknown,
  ) => {
    for (const method of methods) router[method](addresses, respond)
    router.options(addresses, (ctx) => {
      ctx.set(preflightHeaders(methods.flatMap((method) => ALLOW[method])))
      ctx.status = 204
    })
  }
  // Otherwise errors are pages where HTML is accepted.
  const acceptJson = (ctx: StepContext) => {
    ctx.req.headers.accept = 'application/json'
  }
  endpoint(['post'], [`${path}${routes.token}`, `${path}${routes.revocation}`], (ctx) => {
    acceptJson(ctx)
    return withinDeadline(ctx, requestMs, async () => {
      await reserveBody(ctx, memory)
      await limit(ctx, async () => {
        await plainForm(ctx)
        await handleBelow(ctx)
      })
    })
  })
  const mayBegin = limits.open('device-authorizations', MAX_DEVICE_CODES, 60)
  endpoint(['post'], [`${path}${routes.device_authorization}`], (ctx) => {
    acceptJson(ctx)
    return withinDeadline(ctx, requestMs, async () => {
      const { passes, msBeforeNext } = await mayBegin.take(toNetwork(ctx.state.clientAddress ?? ''))
      if (!passes) return tooMany(ctx, msBeforeNext, 'requests')
      await reserveBody(ctx, memory)
      await plainForm(ctx, (form) => dropHints(form, asksForOpenid(form)))
      await handleBelow(ctx)
    })
  })
  endpoint(['get'], [`${path}${routes.jwks}`], (ctx) => {
    acceptJson(ctx)
    return handleBelow(ctx)
  })

  endpoint(['get', 'post'], [`${path}${routes.userinfo}`], userinfo)

  const document = (addresses: string[], metadata: object) => {
    const text = JSON.stringify(metadata)
    endpoint(['get'], addresses, (ctx) => {
      ctx.type = JSON_TYPE
      ctx.body = text
    })
  }
  document([`${path}${METADATA_PATH}`, `${METADATA_PATH}${path}`], buildMetadata(issuer, documents))
  document([`${path}${OPENID_PATH}`], openidConfiguration(issuer, documents))
  endpoint(['get'], [CARD_KEYS_PATH, `${CARD_KEYS_PATH}${basePath}`], (ctx) => {
    const text = JSON.stringify({ keys: cardKeys() })
    if (isRevalidated(ctx, `"${computeTag(text)}"`, `public, max-age=${CARD_KEYS_SECONDS}`)) return
    ctx.type = JSON_TYPE
    ctx.body = text
  })
}
