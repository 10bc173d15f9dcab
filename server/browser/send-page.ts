import { corsHeaders } from '../http/cors.ts'
import type { StepContext } from '../http/state.ts'

export const pageHeaders: Record<string, string> = {
  // Without form-action: Chromium also applies it to the redirect back to the app and would block that.
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'",
  'X-Frame-Options': 'DENY',
  // With no-referrer, browsers post this service's own forms with `Origin: null`, as if from another site.
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/** The page cannot be framed, cached, or read from another origin. */
export function sendPage(ctx: StepContext, html: string, status = 200) {
  setPageHeaders(ctx)
  ctx.status = status
  ctx.type = 'text/html; charset=utf-8'
  ctx.body = html
}

export function sendStyleSheet(ctx: StepContext, css: string) {
  sendAsset(ctx, 'text/css', css)
}

export function sendScript(ctx: StepContext, script: string) {
  sendAsset(ctx, 'text/javascript', script)
}

function sendAsset(ctx: StepContext, type: string, text: string) {
  ctx.set({ 'Cache-Control': 'public, max-age=3600', 'X-Content-Type-Options': 'nosniff' })
  ctx.type = `${type}; charset=utf-8`
  ctx.body = text
}

/** Lets the page run scripts of its own origin, and call it. */
export function allowScripts(ctx: StepContext) {
  const policy = pageHeaders['Content-Security-Policy']!
  ctx.set('Content-Security-Policy', policy.replace("'none';", "'none'; script-src 'self'; connect-src 'self';"))
}

export function setPageHeaders(ctx: StepContext) {
  for (const name of Object.keys(corsHeaders)) ctx.remove(name)
  ctx.set(pageHeaders)
}
