import type { PageContext } from '../../../browser/page-context.ts'
import { readPath } from '../../../browser/page-context.ts'
import { renderByline, renderIcon } from '../../../browser/pages/app-mark.ts'
import type { Html } from '../../../browser/pages/html.ts'
import { html, name, strongName } from '../../../browser/pages/html.ts'
import { document } from '../../../browser/pages/layout.ts'
import { fill } from '../../../browser/words/fill.ts'
import { formatDay } from '../../../browser/words/format-day.ts'
import type { listConsents } from '../../consents/consents.ts'
import type { replayNotices } from '../../consents/replays.ts'
import type { OpenDataRequest } from './data-request.ts'
import { dataRequestSection } from './data-request.ts'
import { changes, findKind } from './scope-words.ts'

export type ConnectedApp = Awaited<ReturnType<typeof listConsents>>[number]

/** An app whose access a replayed refresh token has ended. */
type ReplayNotice = Awaited<ReturnType<typeof replayNotices>>[number]

/** The member's other pages: their cards and calendars, and those on which they decide for a club or for children. */
export const memberPages = ['card', 'calendar', 'club', 'family'] as const

export interface ConnectedView extends PageContext {
  action: string
  member: string
  apps: ConnectedApp[]
  replays: readonly (Omit<ReplayNotice, 'app'> & { app: Pick<ReplayNotice['app'], 'name'> })[]
  others: readonly (typeof memberPages)[number][]
  /** For a copy of the data, until it is answered. */
  dataRequest: OpenDataRequest | null
  withdrawn?: string
}

export function connectedPage(view: ConnectedView): string {
  const { action, member, apps, replays, others, dataRequest, withdrawn, ...context } = view
  const { w } = context
  const titles = { card: w.card.own, calendar: w.calendar.title, club: w.clubAppsTitle, family: w.familyTitle }
  return document({
    ...context,
    title: w.connected,
    body: html`${withdrawn !== undefined && html`<p class="done" role="status">${fill(w.withdrawn, { app: strongName(withdrawn) })}</p>`}
${replays.map(({ app, organisation, at }) => html`<p class="problem">${fill(w.replayed, { app: strongName(app.name), organisation: name(organisation), day: formatDay(at, w) })}</p>`)}
<p class="lead">${fill(w.connectedFor, { member: strongName(member) })}</p>
${apps.length === 0 && html`<p>${w.connectedNone}</p>`}
${apps.map((connected) => entry(connected, context, action))}
<p class="links">${others.map((page) => html`<a href="${readPath(context)}/${page}">${titles[page]}</a> `)}</p>
${dataRequestSection(dataRequest, `${action}/data`, w)}
<form class="footer" method="post" action="${action}/sign-out"><button>${w.signOut}</button></form>`,
  })
}

function entry(connected: ConnectedApp, context: PageContext, action: string) {
  const { consent, app, organisation, scopes, since, lastUse, ends } = connected
  const { w } = context
  const day = (date: Date) => formatDay(date, w)
  const facts = [
    [w.organisation[findKind(scopes)], name(organisation)],
    [w.since, day(since)],
    [w.lastUse, lastUse instanceof Date ? day(lastUse) : w[lastUse]],
    [w.ends, day(ends)],
  ]
  const listed = [...scopes.filter((scope) => !changes(scope)), ...scopes.filter(changes)]
  return html`<section class="app">
<h2>${renderIcon(app, context)}${name(app.name)}</h2>
<p class="hint">${renderByline(app, w)}</p>
<dl>${facts.map(([what, value]) => html`<div><dt>${what}</dt><dd>${value}</dd></div>`)}</dl>
<ul>${listed.map((scope) => html`<li>${w.scopes[scope]}</li>`)}</ul>
<form action="${action}/remove">
<button name="consent" value="${consent}">${w.withdraw} <span class="visually-hidden">${name(app.name)}</span></button>
</form>
</section>`
}

export interface RemoveView extends PageContext {
  action: string
  /** The list's, to which it belongs. */
  query?: string
  member: string
  connected: Pick<ConnectedApp, 'app' | 'organisation'> & { consent?: string }
  /** What the form sends besides. */
  fields?: Html
}

export function removePage({ action, query = '', member, connected, fields, ...context }: RemoveView): string {
  const { consent, app, organisation } = connected
  const { w } = context
  return document({
    ...context,
    title: w.withdraw,
    heading: html`${renderIcon(app, context)}${fill(w.withdrawQuestion, { app: name(app.name) })}`,
    body: html`<p class="lead">${fill(w.withdrawHint, { app: name(app.name), member: strongName(member), organisation: strongName(organisation) })}</p>
<p>${w.withdrawKept}</p>
<form class="decision" method="post" action="${action}/withdraw${query}">
${fields}<button class="danger"${consent !== undefined && html` name="consent" value="${consent}"`}>${w.withdraw}</button>
<a class="button" href="${action}${query}">${w.keep}</a>
</form>`,
  })
}
