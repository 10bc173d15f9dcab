import type { PageContext } from '../page-context.ts'
import { fill } from '../words/fill.ts'
import { parseHomepage } from './app-mark.ts'
import { html, name } from './html.ts'
import { connectedLink, document } from './layout.ts'
import type { AppView, Message } from './views.ts'

export interface MessageView extends PageContext {
  message: Message
  /** oidc-provider's error description for the app's developer, in English. */
  detail?: string | undefined
  requestId?: string | undefined
  app?: AppView | null | undefined
  /** Whether the same address may work later. */
  again?: boolean | undefined
}

/** Messages of what was done as asked. */
const DONE: readonly Message[] = ['signedOut', 'deviceAllowed', 'deviceRefused']

export function messagePage({ message, detail, requestId, app, again, ...context }: MessageView): string {
  const { w } = context
  const { title, text } = w.messages[message]
  const homepage = app && parseHomepage(app)
  const isSignedOut = message === 'signedOut'
  const isProblem = !DONE.includes(message)
  return document({
    ...context,
    title,
    body: html`<p class="lead">${text}</p>
${detail !== undefined && html`<p class="detail" lang="en" dir="auto">${detail}</p>`}
<p class="links">${again && html`<a href="">${w.tryAgain}</a> `}${homepage && html`<a href="${homepage.href}" rel="noreferrer"><span>${fill(w.backToApp, { app: name(app.name), host: homepage.host })}</span></a> `}${connectedLink(context, isSignedOut ? w.signInAgain : w.connected)}</p>
${requestId !== undefined && isProblem && html`<p class="hint">${w.quote} <code>${requestId}</code></p>`}`,
  })
}
