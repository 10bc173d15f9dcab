import type { Decided } from '../../../../routers/approvals/decide.ts'
import type { PageContext } from '../../../browser/page-context.ts'
import { renderByline, renderIcon } from '../../../browser/pages/app-mark.ts'
import { html, name, strongName } from '../../../browser/pages/html.ts'
import { troubled as describedBy, document } from '../../../browser/pages/layout.ts'
import type { Named, Problem } from '../../../browser/pages/views.ts'
import { fill, plural } from '../../../browser/words/fill.ts'
import { formatDay } from '../../../browser/words/format-day.ts'
import type { ClubEntry } from '../../consents/club-entries.ts'
import { findKind } from './scope-words.ts'

/** What the page shows after a decision that was made, or was not. */
export interface Outcome {
  decided?: { state: Decided; entry: ClubEntry }
  problem?: Problem
  /** The one whose form has the problem, and the reason that was typed there. */
  troubled?: ClubEntry
  typed?: string
}

export interface EntriesView extends PageContext, Outcome {
  action: string
  entries: readonly ClubEntry[]
  /** From 0. */
  page: number
  more: boolean
  /** Missing on the page of a guardian. */
  club?: Named
}

/** Names a page of a list, in its address and in those of its forms, which then show it again. */
export function listQuery({ club, page }: { club?: Pick<Named, 'id'> | undefined; page: number }): string {
  const query = new URLSearchParams({ ...(club && { club: club.id }), ...(page > 0 && { page: String(page) }) })
  return query.size === 0 ? '' : `?${query}`
}

export interface ClubView extends EntriesView {
  club: Named
  /** The other clubs of the administrator. */
  others: readonly Named[]
  /** The club decides which apps its members may allow. */
  decides: boolean
  /** What children without a guardian have asked for. */
  children?: readonly ClubEntry[]
}

export function clubPage(view: ClubView): string {
  const { action, club, others, decides, entries, children = [], page, more, problem, ...context } = view
  const { w } = context
  const to = (club: Named, page: number) => action + listQuery({ club, page })
  return document({
    ...context,
    title: w.clubAppsTitle,
    heading: fill(w.clubApps, { club: name(club.name) }),
    problem,
    body: html`${decision(view)}
${decides && html`<p class="lead">${w.clubAppsLead}</p>`}
${others.length > 0 && html`<p class="links">${w.otherClubs} ${others.map((other) => html`<a href="${to(other, 0)}">${name(other.name)}</a> `)}</p>`}
${children.length > 0 && html`<p class="lead">${w.wards}</p>`}
${children.map((entry, at) => section(view, entry, `child-${at}`))}
${entries.length + children.length === 0 && html`<p>${w.clubAppsNone}</p>`}
${entries.map((entry, at) => section(view, entry, String(at)))}
${(page > 0 || more) && html`<p class="links">${page > 0 && html`<a href="${to(club, page - 1)}">${w.earlier}</a> `}${more && html`<a href="${to(club, page + 1)}">${w.later}</a>`}</p>`}
<form class="footer" method="post" action="${action}/sign-out"><button>${w.signOut}</button></form>`,
  })
}

export function decision({ w, decided }: EntriesView) {
  if (!decided) return ''
  const { state, entry } = decided
  const app = strongName(entry.app.name)
  const { child } = entry
  const text =
    state === 'approved' && child
      ? fill(w.childApproved, { app, child: name(child.name) })
      : fill(w.decided[state], { app })
  return html`<p class="done" role="status">${text}</p>`
}

/** @param at Unique on the page. */
export function section(view: EntriesView, entry: ClubEntry, at: string) {
  const { w } = view
  const { app, child, state, reason, requestedAt, decidedAt, scopes } = entry
  const facts = [
    ...(child
      ? [
          [w.child, name(child.name)],
          [w.organisation[findKind(scopes.map(({ scope }) => scope))], name(child.clubName)],
        ]
      : []),
    [w.stateName, child && state === 'requested' ? w.childAsks : w.states[state]],
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
${state === 'approved' || (child && state === 'undecided') ? withdrawal(view, entry) : approval(view, entry)}
${(state === 'requested' || (state === 'undecided' && !child)) && refusal(view, entry, at)}
</section>`
}

export const fields = ({ club, id, child }: Pick<ClubEntry, 'club' | 'id' | 'child'>) =>
  html`<input type="hidden" name="club" value="${club}"><input type="hidden" name="app" value="${id}">${child && html`<input type="hidden" name="child" value="${child.id}"><input type="hidden" name="version" value="${child.version}">`}`

const withdrawal = ({ w, action, page }: EntriesView, entry: ClubEntry) => html`<form action="${action}/remove">
${fields(entry)}${page > 0 && html`<input type="hidden" name="page" value="${page}">`}<button>${entry.child ? w.withdraw : w.withdrawApproval} <span class="visually-hidden">${name(entry.app.name)}</span></button>
</form>`

const approval = (
  view: EntriesView,
  entry: ClubEntry,
) => html`<form method="post" action="${view.action}/approve${listQuery(view)}">
${fields(entry)}<button class="primary">${view.w.approve} <span class="visually-hidden">${name(entry.app.name)}</span></button>
</form>`

const isSame = (one: ClubEntry, other: ClubEntry | undefined) =>
  one.id === other?.id && one.club === other.club && one.child?.id === other.child?.id

function refusal(view: EntriesView, entry: ClubEntry, at: string) {
  const { w } = view
  const { app, child, state } = entry
  const { problem, typed }: Outcome = isSame(entry, view.troubled) ? view : {}
  const hint = `reason-hint-${at}`
  return html`<form method="post" action="${view.action}/refuse${listQuery(view)}" novalidate>
${fields(entry)}
<label for="reason-${at}">${w.reason} <span class="visually-hidden">${name(app.name)}</span></label>
<p class="hint" id="${hint}">${child ? w.childReasonHint : w.reasonHint}${state === 'undecided' && html` ${w.undecidedHint}`}${child?.isUsed && html` ${w.childUses}`}</p>
<input id="reason-${at}" name="reason" maxlength="500"${typed && html` value="${typed}"`}${!child && html` required`}${describedBy(problem, ['reasonInvalid', 'reasonUnseen'], hint)}>
<button>${w.refuseApp} <span class="visually-hidden">${name(app.name)}</span></button>
</form>`
}

export interface WithdrawView extends PageContext {
  action: string
  club: Named
  entry: Pick<ClubEntry, 'id' | 'club' | 'app'>
  members: number
  /** The list's, to which it belongs. */
  page?: number
}

export function withdrawPage({ action, club, entry, members, page = 0, ...context }: WithdrawView): string {
  const { w } = context
  const query = listQuery({ club, page })
  const { app } = entry
  return document({
    ...context,
    title: w.withdrawApproval,
    heading: html`${renderIcon(app, context)}${fill(w.withdrawAppQuestion, { app: name(app.name), club: name(club.name) })}`,
    body: html`<p class="lead">${fill(plural(w, w.withdrawEnds, members), { count: members, app: name(app.name) })}</p>
<p>${w.withdrawKept}</p>
<form class="decision" method="post" action="${action}/withdraw${query}">
${fields(entry)}<button class="danger">${w.withdrawApproval}</button>
<a class="button" href="${action}${query}">${w.keepApproval}</a>
</form>`,
  })
}

interface StrangerView extends PageContext {
  action: string
  member: string
  pages?: 'family'
}

export function noClubPage({ action, member, pages, ...context }: StrangerView): string {
  const { w } = context
  return document({
    ...context,
    title: pages === 'family' ? w.noFamilyTitle : w.noClubTitle,
    body: html`<p class="lead">${fill(pages === 'family' ? w.noFamily : w.noClub, { member: strongName(member) })}</p>
<form class="footer" method="post" action="${action}/sign-out"><button>${w.signOut}</button></form>`,
  })
}
