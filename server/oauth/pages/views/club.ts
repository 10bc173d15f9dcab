import type { PageContext } from '../../../browser/page-context.ts'
import { renderByline, renderIcon } from '../../../browser/pages/app-mark.ts'
import { html, name, strongName } from '../../../browser/pages/html.ts'
import { troubled as describedBy, document } from '../../../browser/pages/layout.ts'
import type { Named, Problem } from '../../../browser/pages/views.ts'
import { fill, plural } from '../../../browser/words/fill.ts'
import { formatDay } from '../../../browser/words/format-day.ts'
import type { ClubEntry } from '../../consents/club-entries.ts'

export interface ClubView extends PageContext {
  action: string
  club: Named
  /** The other clubs of the administrator. */
  others: readonly Named[]
  entries: readonly ClubEntry[]
  /** From 0. */
  page: number
  more: boolean
  decided?: { state: 'approved' | 'refused' | 'withdrawn'; app: string }
  problem?: Problem
  /** The app whose form has the problem. */
  troubled?: string
}

export function clubPage(view: ClubView): string {
  const { action, club, others, entries, page, more, decided, problem, troubled: _, ...context } = view
  const { w } = context
  const to = (club: string, page: number) =>
    `${action}?${new URLSearchParams({ club, ...(page > 0 && { page: String(page) }) })}`
  return document({
    ...context,
    title: w.clubAppsTitle,
    heading: fill(w.clubApps, { club: name(club.name) }),
    problem,
    body: html`${decided && html`<p class="done" role="status">${fill(w.decided[decided.state], { app: strongName(decided.app) })}</p>`}
<p class="lead">${w.clubAppsLead}</p>
${others.length > 0 && html`<p class="links">${w.otherClubs} ${others.map((other) => html`<a href="${to(other.id, 0)}">${name(other.name)}</a> `)}</p>`}
${entries.length === 0 && html`<p>${w.clubAppsNone}</p>`}
${entries.map((entry, at) => section(view, entry, at))}
${(page > 0 || more) && html`<p class="links">${page > 0 && html`<a href="${to(club.id, page - 1)}">${w.earlier}</a> `}${more && html`<a href="${to(club.id, page + 1)}">${w.later}</a>`}</p>`}
<form class="footer" method="post" action="${action}/sign-out"><button>${w.signOut}</button></form>`,
  })
}

function section(view: ClubView, entry: ClubEntry, at: number) {
  const { w } = view
  const { id, app, state, reason, requestedAt, decidedAt, scopes } = entry
  const facts = [
    [w.stateName, w.states[state]],
    ...(requestedAt ? [[w.askedOn, formatDay(requestedAt, w)]] : []),
    ...(decidedAt ? [[w.decidedOn, formatDay(decidedAt, w)]] : []),
    ...(reason === null ? [] : [[w.reason, name(reason)]]),
  ]
  return html`<section class="app">
<h2>${renderIcon(app, view)}${name(app.name)}</h2>
<p class="hint">${renderByline(app, w)}</p>
${app.description && html`<p class="about">${name(app.description)}</p>`}
<dl>${facts.map(([what, value]) => html`<div><dt>${what}</dt><dd>${value}</dd></div>`)}</dl>
${scopes.length > 0 && html`<p class="hint">${w.wantedScopes}</p>`}
${scopes.length > 0 && html`<ul>${scopes.map(({ scope, purposes }) => html`<li>${w.scopes[scope]}${purposes.map((purpose) => html`<br><span class="hint">${name(purpose)}</span>`)}</li>`)}</ul>`}
${state === 'approved' ? withdrawal(view, entry) : approval(view, entry)}
${(state === 'requested' || state === 'undecided') && refusal(view, { id, name: app.name }, { state, at })}
</section>`
}

const fields = ({ club }: Pick<ClubView, 'club'>, app: string) =>
  html`<input type="hidden" name="club" value="${club.id}"><input type="hidden" name="app" value="${app}">`

const withdrawal = (view: ClubView, { id, app }: ClubEntry) => html`<form action="${view.action}/remove">
${fields(view, id)}<button>${view.w.withdrawApproval} <span class="visually-hidden">${name(app.name)}</span></button>
</form>`

const approval = (view: ClubView, { id, app }: ClubEntry) => html`<form method="post" action="${view.action}/approve">
${fields(view, id)}<button class="primary">${view.w.approve} <span class="visually-hidden">${name(app.name)}</span></button>
</form>`

function refusal(view: ClubView, app: Named, { state, at }: { state: 'requested' | 'undecided'; at: number }) {
  const { w } = view
  const problem = view.troubled === app.id ? view.problem : undefined
  const hint = `reason-hint-${at}`
  return html`<form method="post" action="${view.action}/refuse" novalidate>
${fields(view, app.id)}
<label for="reason-${at}">${w.reason} <span class="visually-hidden">${name(app.name)}</span></label>
<p class="hint" id="${hint}">${w.reasonHint}${state === 'undecided' && html` ${w.undecidedHint}`}</p>
<input id="reason-${at}" name="reason" maxlength="500" required${describedBy(problem, ['reasonInvalid', 'reasonUnseen'], hint)}>
<button>${w.refuseApp} <span class="visually-hidden">${name(app.name)}</span></button>
</form>`
}

export interface WithdrawView extends PageContext {
  action: string
  club: Named
  entry: Pick<ClubEntry, 'id' | 'app'>
  members: number
}

export function withdrawPage({ action, club, entry: { id, app }, members, ...context }: WithdrawView): string {
  const { w } = context
  return document({
    ...context,
    title: w.withdrawApproval,
    heading: html`${renderIcon(app, context)}${fill(w.withdrawAppQuestion, { app: name(app.name), club: name(club.name) })}`,
    body: html`<p class="lead">${fill(plural(w, w.withdrawEnds, members), { count: members, app: name(app.name) })}</p>
<p>${w.withdrawKept}</p>
<form class="decision" method="post" action="${action}/withdraw">
${fields({ club }, id)}<button class="danger">${w.withdrawApproval}</button>
<a class="button" href="${action}?${String(new URLSearchParams({ club: club.id }))}">${w.keepApproval}</a>
</form>`,
  })
}

export function noClubPage({ action, member, ...context }: PageContext & { action: string; member: string }): string {
  const { w } = context
  return document({
    ...context,
    title: w.noClubTitle,
    body: html`<p class="lead">${fill(w.noClub, { member: strongName(member) })}</p>
<form class="footer" method="post" action="${action}/sign-out"><button>${w.signOut}</button></form>`,
  })
}
