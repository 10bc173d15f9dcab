import { failureOf } from '../../routers/database-errors.ts'
import { ApiError } from '../../routers/errors.ts'
import { corsHeaders } from '../http/cors.ts'
import type { Step, StepContext } from '../http/state.ts'
import { isCrossOrigin } from './forms.ts'
import { errors as oauthErrors } from './oidc-provider.ts'
import { pageHeaders } from './pages/headers.ts'
import { languageOf } from './pages/language.ts'
import { messagePage } from './pages/message.ts'
import type { Message } from './pages/views.ts'

export const requestLanguage = (ctx: { get: (name: string) => string }) => languageOf(ctx.get('accept-language'))

/** Responds with a page that cannot be framed, cached, or read from another origin. */
export function sendPage(ctx: StepContext, html: string, status = 200) {
  setPageHeaders(ctx)
  ctx.status = status
  ctx.type = 'text/html; charset=utf-8'
  ctx.body = html
}

export const sendMessage = (ctx: StepContext, message: Message, status: number, detail?: string) =>
  sendPage(ctx, messagePage({ language: requestLanguage(ctx), message, ...(detail && { detail }) }), status)

export function redirect(ctx: StepContext, url: string) {
  setPageHeaders(ctx)
  ctx.status = 303
  ctx.set('Location', url)
}

export function setPageHeaders(ctx: StepContext) {
  for (const name of Object.keys(corsHeaders)) ctx.remove(name)
  ctx.set(pageHeaders)
}

/** Middleware around the pages: refuses forms from other origins, and turns errors into pages. */
export const pageErrors =
  (origin: string): Step =>
  async (ctx, next) => {
    if (ctx.method === 'POST' && isCrossOrigin(ctx, origin)) return sendMessage(ctx, 'crossSite', 403)
    try {
      await next()
    } catch (thrown) {
      if (thrown instanceof oauthErrors.SessionNotFound) return sendMessage(ctx, 'expired', 400)
      const error = thrown instanceof ApiError ? thrown : failureOf(thrown)
      if (error.status >= 500) ctx.state.cause = error.cause
      ctx.set(error.headers)
      sendMessage(ctx, messageFor(error), error.status === 401 ? 400 : error.status)
    }
  }

function messageFor({ status }: ApiError): Message {
  if (status >= 500) return 'unavailable'
  return status === 404 ? 'notFound' : 'requestWrong'
}
