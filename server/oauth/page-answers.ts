import { readBytes } from '../../rest-facade/body.ts'
import { failureOf } from '../../routers/database-errors.ts'
import { ApiError, errors } from '../../routers/errors.ts'
import { corsHeaders } from '../http/cors.ts'
import type { Step, StepContext } from '../http/state.ts'
import { languageOf, messagePage, pageHeaders } from './pages/pages.ts'
import { errors as oauthErrors } from './runtime.ts'

const FORM_BYTES = 8 * 1024
const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i

type Message = Parameters<typeof messagePage>[0]['message']

export const languageFor = (ctx: { get: (name: string) => string }) => languageOf(ctx.get('accept-language'))

/** Sends a page, which nobody may frame, keep, or read from another origin. */
export function show(ctx: StepContext, html: string, status = 200) {
  for (const name of Object.keys(corsHeaders)) ctx.remove(name)
  ctx.set(pageHeaders)
  ctx.status = status
  ctx.type = 'text/html; charset=utf-8'
  ctx.body = html
}

export const showMessage = (ctx: StepContext, message: Message, status: number) =>
  show(ctx, messagePage({ language: languageFor(ctx), message }), status)

export function goTo(ctx: StepContext, address: string) {
  for (const name of Object.keys(corsHeaders)) ctx.remove(name)
  ctx.set(pageHeaders)
  ctx.status = 303
  ctx.set('Location', address)
}

/** What was filled in. */
export async function readForm(ctx: StepContext): Promise<URLSearchParams> {
  if (!FORM.test(ctx.get('content-type'))) throw errors.typeWrong()
  return new URLSearchParams((await readBytes(ctx.req, FORM_BYTES, errors.bodyTooLarge)).toString('utf8'))
}

/**
 * A form has to come from a page of ours. The cookies are not sent with those of other sites (SameSite); this keeps out
 * those of other hosts of the same site as well. Browsers say so in one of two headers, or in both.
 */
export function isCrossSite(ctx: StepContext, origin: string): boolean {
  const site = ctx.get('sec-fetch-site')
  if (site !== '') return site !== 'same-origin'
  const from = ctx.get('origin')
  return from !== '' && from !== origin
}

/** Around the pages: what goes wrong is a page too. */
export const pages =
  (origin: string): Step =>
  async (ctx, next) => {
    if (ctx.method === 'POST' && isCrossSite(ctx, origin)) return showMessage(ctx, 'crossSite', 403)
    try {
      await next()
    } catch (thrown) {
      if (thrown instanceof oauthErrors.SessionNotFound) return showMessage(ctx, 'expired', 400)
      const error = thrown instanceof ApiError ? thrown : failureOf(thrown)
      if (error.status >= 500) ctx.state.cause = error.cause
      ctx.set(error.headers)
      showMessage(ctx, messageOf(error), error.status === 401 ? 400 : error.status)
    }
  }

function messageOf({ status }: ApiError): Message {
  if (status >= 500) return 'unavailable'
  return status === 404 ? 'notFound' : 'requestWrong'
}
