import type { PageContext } from '../page-context.ts'
import { fill } from '../words/fill.ts'
import { html, name, strongName } from './html.ts'
import { document, troubled } from './layout.ts'
import type { AppView, Named, Problem } from './views.ts'

export interface SignInView extends PageContext {
  action: string
  /** Null when signing in to this service's own pages. */
  app: AppView | null
  /** The service's own pages to sign in to; by default the connected apps. */
  pages?: 'developers' | 'clubs' | 'calendar' | 'cards' | 'family'
  email: boolean
  /** The first value of the e-mail field. */
  hint?: string
  upstream: string | null
  /** For development only: the members to choose from. */
  members: Named[] | null
  problem?: Problem
}

export function signInPage(view: SignInView): string {
  const { action, app, pages, email, hint, upstream, members, problem, ...context } = view
  const { w } = context
  const fieldProblems: Problem[] = ['emailInvalid', 'tooOften']
  const focusEmail = upstream === null || (problem !== undefined && fieldProblems.includes(problem))
  const ownPages = {
    developers: w.signInForDevelopers,
    clubs: w.signInForClubs,
    calendar: w.signInForCalendar,
    family: w.signInForFamily,
    cards: w.signInForCards,
    connected: w.signInForConnected,
  }
  const byUpstream =
    upstream !== null &&
    html`<p><a class="button primary" href="${action}/upstream"><span>${fill(w.upstream, { name: name(upstream) })}</span></a></p>`
  const byEmail =
    email &&
    // novalidate: the messages are in the page's language, and browsers refuse some addresses that this service accepts.
    html`<form method="post" action="${action}/email" novalidate>
<label for="email">${w.email}</label>
<p class="hint" id="email-hint">${w.emailHint}</p>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254"${hint && html` value="${hint}"`} required${focusEmail && html` autofocus`}${troubled(problem, fieldProblems, 'email-hint')}>
<button${upstream === null && html` class="primary"`}>${w.sendCode}</button>
</form>`
  const byChoice =
    members !== null &&
    html`<form class="aside" method="post" action="${action}/pick">
<h2>${w.developmentLogin}</h2>
<p class="hint" id="pick-hint">${w.developmentLoginHint}</p>
<label for="member">${w.member}</label>
<select id="member" name="member" aria-describedby="pick-hint">${members.map((member) => html`<option value="${member.id}">${member.name}</option>`)}</select>
<button${upstream === null && !email && html` class="primary"`}>${w.signIn}</button>
</form>`
  return document({
    ...context,
    title: w.signIn,
    problem,
    body: html`<p class="lead">${app ? fill(w.signInFor, { app: strongName(app.name), team: name(app.team) }) : ownPages[pages ?? 'connected']}</p>
${byUpstream}
${byUpstream && byEmail && html`<p class="or">${w.or}</p>`}
${byEmail}
${byChoice}
${!byUpstream && !byEmail && !byChoice && html`<p>${w.noLoginMethod}</p>`}`,
  })
}

/** Also the page with the form, for another way to sign in. */
interface StepView extends PageContext {
  action: string
  form: string
}

export interface CodeView extends StepView {
  email: string
  problem?: Problem
}

export function codePage({ action, form, email, problem, ...context }: CodeView): string {
  const { w } = context
  return document({
    ...context,
    title: w.codeTitle,
    problem,
    body: html`<p class="lead">${fill(w.codeSent, { email: strongName(email) })}</p>
<form method="post" action="${action}/code" novalidate>
<label for="code">${w.code}</label>
<p class="hint" id="code-hint">${w.codeHint}</p>
<input class="code" id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="20" required autofocus${troubled(problem, ['codeWrong', 'codeExpired', 'tooOften'], 'code-hint')}>
<button class="primary">${w.signIn}</button>
</form>
<p class="after"><a href="${form}">${w.otherAddress}</a></p>`,
  })
}

export interface PersonView extends StepView {
  persons: Named[]
}

export function personPage({ action, form, persons, ...context }: PersonView): string {
  const { w } = context
  return document({
    ...context,
    title: w.personTitle,
    body: html`<p class="lead">${w.personHint}</p>
<form class="persons" method="post" action="${action}/person">
${persons.map((person) => html`<button name="person" value="${person.id}">${name(person.name)}</button>`)}
</form>
<p class="after"><a href="${form}">${w.otherWay}</a></p>`,
  })
}
