import { failureOf } from '../../routers/database-errors.ts'
import { Deadline } from '../../routers/deadline.ts'
import { ApiError } from '../../routers/errors.ts'
import type { Step, StepContext } from '../http/state.ts'
import { requestLanguage, sendPage, setPageHeaders } from '../pages/send-page.ts'
import { isCrossOrigin } from './forms.ts'
import { errors as oauthErrors } from './oidc-provider.ts'
import { messagePage } from './pages/message.ts'
import type { Message } from './pages/views.ts'

export const sendMessage = (ctx: StepContext, message: Message, status: number, detail?: string) =>
  sendPage(ctx, messagePage({ language: requestLanguage(ctx), message, ...(detail && { detail }) }), status)

export function redirect(ctx: StepContext, url: string) {
  setPageHeaders(ctx)
  ctx.status = 303
  ctx.set('Location', url)
}

/** Middleware around the pages: refuses forms from other origins, and turns errors into pages. */
export const pageErrors =
  (origin: string): Step =>
  async (ctx, next) => {
    if (ctx.method === 'POST' && isCrossOrigin(ctx, origin)) return sendMessage(ctx, 'crossSite', 403)
    try {
      await new Deadline().bound(next())
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
