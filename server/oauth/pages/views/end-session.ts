import type { PageContext } from '../../../browser/page-context.ts'
import { html, name, strongName } from '../../../browser/pages/html.ts'
import { document } from '../../../browser/pages/layout.ts'
import type { AppView } from '../../../browser/pages/views.ts'
import { fill } from '../../../browser/words/fill.ts'

export interface EndSessionView extends PageContext {
  action: string
  member: string
  /** Null for a request that names no app. */
  app: AppView | null
  /** The request, to be checked again. */
  query: string
}

export function endSessionPage({ action, member, app, query, ...context }: EndSessionView): string {
  const { w } = context
  return document({
    ...context,
    title: w.signOut,
    heading: html`${w.endQuestion}`,
    body: html`<p class="lead">${app && fill(w.endAsked, { app: name(app.name) })} ${fill(w.endHint, { member: strongName(member) })}</p>
<form class="decision" method="post" action="${action}/confirm">
<input type="hidden" name="query" value="${query}">
<button class="primary" name="decision" value="end">${w.signOut}</button>
<button name="decision" value="stay">${w.endStay}</button>
</form>`,
  })
}
