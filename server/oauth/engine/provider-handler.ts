import type { IncomingMessage, ServerResponse } from 'node:http'
import type { JWK } from 'jose'
import type Koa from 'koa'
import type { Context } from 'koa'
import type { Configuration, Provider } from 'oidc-provider'
import type { Database } from '../../../prisma/client.ts'
import { toFailure } from '../../../routers/kernel/database-errors.ts'
import { Deadline } from '../../../routers/kernel/deadline.ts'
import { ApiError } from '../../../routers/kernel/errors.ts'
import { messageFor, sendMessage } from '../../browser/page-responses.ts'
import type { Message } from '../../browser/pages/views.ts'
import { sendPage } from '../../browser/send-page.ts'
import { toNetwork } from '../../http/client-address.ts'
import type { StepContext } from '../../http/state.ts'
import { findApp } from '../consents/app-views.ts'
import { PUBLISH_MS } from '../keys/signing-key-store.ts'
import type { SigningKeys } from '../keys/signing-keys.ts'
import { answerRevocation, revokeAccessToken } from './access-token-revocation.ts'
import { nameUnauthorizedClient } from './client-credentials.ts'
import { DocumentRefused } from './client-document.ts'
import { pacePolls } from './device-codes.ts'
import type { FailedSignIn } from './failed-sign-ins.ts'
import { watchFailures } from './failed-sign-ins.ts'
import { dropIdToken } from './id-tokens.ts'
import { withRequestStorage } from './oidc-internals.ts'
import { errors } from './oidc-provider.ts'
import type { ProviderOptions } from './provider.ts'
import { ClientPendingApproval, createProvider } from './provider.ts'
import { rotateRefreshToken } from './refresh-rotation.ts'

/** How long readers may store the published keys: half of the time before a new one signs. */
const KEYS_SECONDS = PUBLISH_MS / 2_000

type Options = Omit<ProviderOptions, 'renderError' | 'signsWith' | 'readNetwork'> & {
  keys: SigningKeys
  requestMs: number
  memberMails: boolean
  replayed?: (() => void) | undefined
  /** Called after a request of a known client that has failed; `at` is its arrival in Unix milliseconds. */
  signInFailed?: SignInFailed | undefined
}
export type SignInFailed = (
  client: string,
  at: number,
  request: FailedSignIn & { requestId: string; ms: number },
) => void
type Handle = (req: IncomingMessage, res: ServerResponse) => Promise<void>

/** Passes requests to oidc-provider. A new instance is created when the keys change; all state is in the database. */
export function createProviderHandler({ keys, requestMs, replayed, signInFailed, ...options }: Options) {
  const mountPath = new URL(options.issuer).pathname
  const causes = new WeakMap<IncomingMessage, unknown>()
  const asked = new WeakMap<IncomingMessage, StepContext>()
  const failures = watchFailures()
  const readNetwork = (req: IncomingMessage) => toNetwork(asked.get(req)?.state.clientAddress ?? '')
  const renderError = errorPages(options.db, (req) => asked.get(req)!)
  let instance: { jwks: JWK[]; provider: Provider; handle: Handle } | undefined

  const create = (jwks: JWK[]) => {
    const provider = createProvider(jwks, { ...options, signsWith: keys.signsWith, renderError, readNetwork })
    provider.silent = true
    // Its cookies are secure according to X-Forwarded-Proto, which mount.ts derives from AUTH_BASE_URL.
    provider.proxy = true
    // Without a listener Koa prints the errors of connections that clients closed.
    ;(provider as Koa).on('error', () => {})
    provider.on('server_error', (ctx, error) => {
      causes.set(ctx.req, error)
      if (ctx.body) fail(ctx, error)
    })
    failures.watch(provider)
    provider.use(async (ctx, next) => {
      const at = options.now()
      try {
        await next()
        nameUnauthorizedClient(ctx)
        if (await pacePolls(ctx, options.db, options.now)) asked.get(ctx.req)!.state.waits = true
        if (ctx.oidc?.route === 'jwks') ctx.set('Cache-Control', `public, max-age=${KEYS_SECONDS}`)
        await revokeAccessToken(ctx, { ...options, keys })
        answerRevocation(ctx)
        dropIdToken(ctx)
        await rotateRefreshToken(ctx, { ...options, replayed })
        const found = signInFailed && failures.find(ctx)
        if (found) {
          const { requestId } = asked.get(ctx.req)!.state
          signInFailed(found.client, at, { ...found.failure, requestId, ms: options.now() - at })
        }
      } catch (error) {
        causes.set(ctx.req, error)
        fail(ctx, error)
      }
    })
    return { jwks, provider, handle: provider.callback() as Handle }
  }
  const current = () => {
    const jwks = keys.current()
    if (instance?.jwks !== jwks) instance = create(jwks)
    return instance
  }

  return {
    provider: () => current().provider,
    /** A query is passed on for authorization requests alone: Koa reads it in quadratic time, 15 kB of it took 0.7 s. */
    async handle(ctx: StepContext, path: string, search = '') {
      ctx.respond = false
      asked.set(ctx.req, ctx)
      const url = `${path}${search && `?${search}`}`
      // As Express does: oidc-provider derives its mount path from the two.
      Object.assign(ctx.req, { url, originalUrl: `${mountPath}${url}` })
      await withinDeadline(ctx, requestMs, () =>
        withRequestStorage(ctx.req, ctx.res, () => current().handle(ctx.req, ctx.res)),
      )
      ctx.state.cause ??= causes.get(ctx.req)
    },
  }
}

/** Responds to an app with a server error in the form of RFC 6749. */
function fail(ctx: Context, error: unknown) {
  const { status, headers, message } = toFailure(error)
  const unavailable = status === 503
  ctx.status = unavailable ? 503 : 500
  if (unavailable) ctx.set(headers)
  ctx.body = { error: unavailable ? 'temporarily_unavailable' : 'server_error', error_description: message }
}

/** Responds in place of `work` when the request's deadline has passed, or when it throws. */
export const withinDeadline = (ctx: StepContext, requestMs: number, work: () => Promise<void>) =>
  new Deadline(requestMs).bound(work()).catch((error) => failLate(ctx, error))

function failLate(ctx: StepContext, error: unknown) {
  if (ctx.headerSent) return
  ctx.respond = true
  ctx.state.cause = error instanceof ApiError ? error.cause : error
  if (ctx.req.headers.accept === 'application/json') return fail(ctx, error)
  const { status, headers } = toFailure(error)
  ctx.set(headers)
  sendMessage(ctx, 'unavailable', status)
}

const errorPages =
  (db: Database, ownContext: (req: IncomingMessage) => StepContext): NonNullable<Configuration['renderError']> =>
  async (ctx, out, error) => {
    const own = ownContext(ctx.req)
    const page = (message: Message, status: number, more = {}) =>
      sendPage(ctx as unknown as StepContext, messageFor(own, message, more), status)
    if (error instanceof errors.SessionNotFound) return page('expired', 400)
    if (error instanceof ClientPendingApproval) return page('notApproved', 403)
    if (ctx.status < 500) {
      const client = ctx.oidc?.client?.clientId
      // Without the database, the page has no link back to the app.
      const app = client === undefined ? null : await findApp(db, client).catch(() => null)
      return page('requestWrong', 400, { detail: explain(error) ?? out.error_description ?? out.error, app })
    }
    const { status, headers } = toFailure(error)
    ctx.set(status === 503 ? headers : {})
    return page('unavailable', status === 503 ? 503 : 500)
  }

const explain = ({ cause }: Error) =>
  cause instanceof DocumentRefused ? `the client metadata document: ${cause.message}` : undefined
