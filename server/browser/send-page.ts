import { corsHeaders } from '../http/cors.ts'
import type { StepContext } from '../http/state.ts'
import { pageHeaders } from './headers.ts'

/** The page cannot be framed, cached, or read from another origin. */
export function sendPage(ctx: StepContext, html: string, status = 200) {
  setPageHeaders(ctx)
  ctx.status = status
  ctx.type = 'text/html; charset=utf-8'
  ctx.body = html
}

export function sendStyleSheet(ctx: StepContext, css: string) {
  ctx.set('Cache-Control', 'public, max-age=3600')
  ctx.type = 'text/css; charset=utf-8'
  ctx.body = css
}

export function setPageHeaders(ctx: StepContext) {
  for (const name of Object.keys(corsHeaders)) ctx.remove(name)
  ctx.set(pageHeaders)
}
