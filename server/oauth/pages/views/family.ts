import { html } from '../../../browser/pages/html.ts'
import { document } from '../../../browser/pages/layout.ts'
import type { EntriesView } from './club.ts'
import { decision, section } from './club.ts'

/** The apps of a guardian's children. */
export function familyPage(view: EntriesView): string {
  const { w, action, entries, page, more, problem } = view
  return document({
    ...view,
    title: w.familyTitle,
    problem,
    body: html`${decision(view)}
<p class="lead">${w.familyLead}</p>
${entries.length === 0 && html`<p>${w.familyNone}</p>`}
${entries.map((entry, at) => section(view, entry, String(at)))}
${(page > 0 || more) && html`<p class="links">${page > 0 && html`<a href="${action}?page=${page - 1}">${w.earlier}</a> `}${more && html`<a href="${action}?page=${page + 1}">${w.later}</a>`}</p>`}
<form class="footer" method="post" action="${action}/sign-out"><button>${w.signOut}</button></form>`,
  })
}
