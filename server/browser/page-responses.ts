import { toFailure } from '../../routers/kernel/database-errors.ts'
import { Deadline } from '../../routers/kernel/deadline.ts'
import { ApiError } from '../../routers/kernel/errors.ts'
import type { Step, StepContext } from '../http/state.ts'
import { isFromOwnPage } from './forms.ts'
import { pageContext } from './page-context.ts'
import { messagePage } from './pages/message.ts'
import type { AppView, Message } from './pages/views.ts'
import { sendPage, setPageHeaders } from './send-page.ts'

interface More {
  detail?: string | undefined
  app?: AppView | null
}

export const messageFor = (ctx: StepContext, message: Message, { detail, app }: More = {}) =>
  messagePage({
    ...pageContext(ctx),
    message,
    detail: detail || undefined,
    app,
    requestId: ctx.state.requestId,
    again: ctx.method === 'GET' && (message === 'unavailable' || message === 'tooManyRequests'),
  })

export const sendMessage = (ctx: StepContext, message: Message, status: number, detail?: string) =>
  sendPage(ctx, messageFor(ctx, message, { detail }), status)

export function redirect(ctx: StepContext, url: string) {
  setPageHeaders(ctx)
  ctx.status = 303
  ctx.set('Location', url)
}

/** Thrown for a page that is over, where its browser goes on at another address of this service. */
export class Elsewhere extends Error {
  readonly url: string

  constructor(url: string) {
    super('the page is over')
    this.url = url
  }
}

/** Refuses forms from other origins, and turns errors into pages. */
export const pageErrors =
  (origin: string, requestMs: number): Step =>
  async (ctx, next) => {
    if (ctx.method === 'POST' && !isFromOwnPage(ctx, origin)) return sendMessage(ctx, 'crossSite', 403)
    try {
      await new Deadline(requestMs).bound(next())
    } catch (thrown) {
      if (thrown instanceof Elsewhere) return redirect(ctx, thrown.url)
      // oidc-provider throws it for interactions that it cannot find, too.
      if (thrown instanceof Error && thrown.name === 'SessionNotFound') return sendMessage(ctx, 'expired', 400)
      const error = thrown instanceof ApiError ? thrown : toFailure(thrown)
      if (error.status >= 500) ctx.state.cause = error.cause
      ctx.set(error.headers)
      const message = toMessage(error)
      sendMessage(ctx, message, error.status === 401 ? 400 : error.status, findDetail(message, error))
    }
  }

function toMessage({ status }: ApiError): Message {
  if (status >= 500) return 'unavailable'
  if (status === 429) return 'tooManyRequests'
  return status === 404 ? 'notFound' : 'requestWrong'
}

/** The page promises details of a wrong request. */
function findDetail(message: Message, { id, message: text }: ApiError): string | undefined {
  if (message !== 'requestWrong') return undefined
  return id === 'requestInvalid' ? 'A field of the form is missing or wrong.' : text
}
