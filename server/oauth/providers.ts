import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JWK } from 'jose'
import type Koa from 'koa'
import type { Context } from 'koa'
import type { Configuration, Provider } from 'oidc-provider'
import { failureOf } from '../../routers/database-errors.ts'
import type { StepContext } from '../http/state.ts'
import type { SigningKeys } from './keys.ts'
import { languageFor, show } from './page-answers.ts'
import { messagePage } from './pages/pages.ts'
import type { ProviderParts } from './provider.ts'
import { createProvider } from './provider.ts'
import { errors, withRequests } from './runtime.ts'

type Parts = Omit<ProviderParts, 'renderError'> & { keys: SigningKeys }

/**
 * oidc-provider holds its keys for good, so there is a new one whenever they change; all that it knows is in the database.
 * It is a Koa of its own, with cookie keys of its own, and is given requests as they are.
 */
export function providers({ keys, ...parts }: Parts) {
  const mountPath = new URL(parts.issuer).pathname
  const causes = new WeakMap<IncomingMessage, unknown>()
  let made: { jwks: JWK[]; provider: Provider; handle: Handle } | undefined

  const make = (jwks: JWK[]) => {
    const provider = createProvider(jwks, { ...parts, renderError })
    provider.silent = true
    // Its cookies are secure where it is reached over https: AUTH_BASE_URL says so, and no header that a client sends.
    provider.proxy = true
    // As Koa gives them: what it could not send to a client that has left.
    ;(provider as Koa).on('error', () => {})
    provider.on('server_error', (ctx, error) => {
      causes.set(ctx.req, error)
      if (ctx.body) fail(ctx, error)
    })
    provider.use(async (ctx, next) => {
      try {
        await next()
      } catch (error) {
        causes.set(ctx.req, error)
        fail(ctx, error)
      }
    })
    return { jwks, provider, handle: provider.callback() as Handle }
  }
  const current = () => {
    const jwks = keys.current()
    if (made?.jwks !== jwks) made = make(jwks)
    return made
  }

  return {
    provider: () => current().provider,
    /** Lets oidc-provider answer, at a path below the issuer. */
    async answer(ctx: StepContext, path: string) {
      ctx.respond = false
      const { search } = ctx.state
      const url = `${path}${search && `?${search}`}`
      // As Express leaves it: from the two it learns what it is mounted below.
      Object.assign(ctx.req, { url, originalUrl: `${mountPath}${url}` })
      await withRequests(() => current().handle(ctx.req, ctx.res))
      ctx.state.cause ??= causes.get(ctx.req)
    },
  }
}

type Handle = (req: IncomingMessage, res: ServerResponse) => Promise<void>

/** What went wrong on our side, in the words of RFC 6749. */
function fail(ctx: Context, error: unknown) {
  const { status, headers, message } = failureOf(error)
  const away = status === 503
  ctx.status = away ? 503 : 500
  if (away) ctx.set(headers)
  ctx.body = { error: away ? 'temporarily_unavailable' : 'server_error', error_description: message }
}

/** A request that cannot be sent back to its app: a page says why. */
const renderError: NonNullable<Configuration['renderError']> = (ctx, out, error) => {
  const language = languageFor(ctx)
  const page = (message: Parameters<typeof messagePage>[0]['message'], status: number, detail?: string) =>
    show(ctx as unknown as StepContext, messagePage({ language, message, ...(detail && { detail }) }), status)
  if (error instanceof errors.SessionNotFound) return page('expired', 400)
  if (ctx.status < 500) return page('requestWrong', 400, out.error_description ?? out.error)
  const { status, headers } = failureOf(error)
  ctx.set(status === 503 ? headers : {})
  return page('unavailable', status === 503 ? 503 : 500)
}
