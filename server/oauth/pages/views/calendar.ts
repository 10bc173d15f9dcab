import type { PageContext } from '../../../browser/page-context.ts'
import { html, name, strongName } from '../../../browser/pages/html.ts'
import { connectedLink, document } from '../../../browser/pages/layout.ts'
import type { Named } from '../../../browser/pages/views.ts'
import { fill } from '../../../browser/words/fill.ts'
import { formatDay } from '../../../browser/words/format-day.ts'
import type { listFeeds } from '../../consents/calendar-feeds.ts'

type ShownFeed = Awaited<ReturnType<typeof listFeeds>>[number]

export interface CalendarView extends PageContext {
  action: string
  member: string
  clubs: readonly (Named & { feeds: readonly Omit<ShownFeed, 'clubId'>[] })[]
  /** The address that was created just now. */
  created?: { club: string; url: string }
  removed?: boolean
}

export function calendarPage(view: CalendarView): string {
  const { action, member, clubs, created, removed, ...context } = view
  const { w } = context
  const words = w.calendar
  const club = clubs.find(({ id }) => id === created?.club)
  return document({
    ...context,
    title: words.title,
    body: html`${removed && html`<p class="done" role="status">${words.removed}</p>`}
${created && club && newAddress(created.url, club.name, view)}
<p class="lead">${clubs.length === 0 ? fill(w.nowhere.club, { member: strongName(member) }) : fill(words.lead, { member: strongName(member) })}</p>
${clubs.map((one) => section(one, view))}
<p class="links">${connectedLink(context)}</p>`,
  })
}

const newAddress = (url: string, club: string, { w }: CalendarView) => html`<section class="app">
<p class="done" role="status">${fill(w.calendar.created, { club: strongName(club) })}</p>
<label for="address">${w.calendar.address}</label>
<p class="hint" id="address-hint">${w.calendar.hint}</p>
<input id="address" value="${url}" readonly aria-describedby="address-hint">
<p class="links"><a href="${url.replace(/^https?:/, 'webcal:')}">${w.calendar.open}</a></p>
</section>`

const section = (
  { id, name: club, feeds }: CalendarView['clubs'][number],
  { action, w }: CalendarView,
) => html`<section class="app">
<h2>${name(club)}</h2>
${feeds.length === 0 && html`<p class="hint">${w.calendar.none}</p>`}
${feeds.map(
  (feed) => html`<dl><div><dt>${w.calendar.since}</dt><dd>${formatDay(feed.createdAt, w)}</dd></div>
${feed.app !== null && html`<div><dt>${w.calendar.by}</dt><dd>${name(feed.app)}</dd></div>`}</dl>
<form method="post" action="${action}/remove">
<button name="address" value="${feed.id}">${w.calendar.remove} <span class="visually-hidden">${name(club)}, ${formatDay(feed.createdAt, w)}</span></button>
</form>`,
)}
<form method="post" action="${action}/create">
<button class="primary" name="club" value="${id}">${w.calendar.create} <span class="visually-hidden">${name(club)}</span></button>
</form>
</section>`
