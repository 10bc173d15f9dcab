import type { ConsentScope } from '../../../../routers/kernel/identity-scopes.ts'
import type { PageContext } from '../../../browser/page-context.ts'
import { renderByline, renderIcon } from '../../../browser/pages/app-mark.ts'
import type { Html } from '../../../browser/pages/html.ts'
import { html, name, strongName } from '../../../browser/pages/html.ts'
import { connectedLink, document, troubled } from '../../../browser/pages/layout.ts'
import type { AppView, Named, Problem } from '../../../browser/pages/views.ts'
import { fill } from '../../../browser/words/fill.ts'
import type { ClosedClub } from '../../consents/consent-choices.ts'
import { changes, findKind } from './scope-words.ts'

/** The host, or for native apps the scheme, of the redirect URI; or the code of a device. */
type Asker = { returnsTo: string } | { device: string }

export interface ConsentView extends PageContext {
  action: string
  app: AppView
  member: string
  /** A client that nobody has reviewed; `organisations` are invented. */
  sandbox?: boolean
  organisations: Named[]
  /** Clubs that have not approved the app. */
  closed?: readonly ClosedClub[]
  chosen: string | null
  scopes: readonly ConsentScope[]
  /** A hash of what the page shows, for the consent. */
  shown?: string
  asker: Asker
  problem?: Problem
}

export function consentPage(view: ConsentView): string {
  const { w, action, app, member, sandbox, organisations, asker } = view
  if (organisations.length === 0) return view.closed?.length ? approvalPage(view, view.closed) : nowherePage(view)
  return document({
    ...view,
    title: w.consentTitle,
    heading: html`${renderIcon(app, view)}${fill(w.consentQuestion, { app: name(app.name) })}`,
    body: html`<p class="lead">${renderByline(app, w)}</p>
${app.description && html`<p class="about">${name(app.description)}</p>`}
${sandbox && html`<p class="one"><strong>${w.testClient}</strong> ${w.testClientHint}</p>`}
${'device' in asker && html`<p class="one">${fill(w.deviceAsks, { code: html`<strong>${asker.device}</strong>` })} <strong>${w.deviceWarning}</strong> ${w.deviceFromOthers}</p>`}
<p>${fill(sandbox ? w.testAsks : w.asks, { member: strongName(member) })} ${otherAccount(view)}</p>
<form method="post" action="${action}/consent">
${noDefault}
${view.shown !== undefined && html`<input type="hidden" name="shown" value="${view.shown}">`}
${organisationField(view)}
${view.closed && closedClubs(view, view.closed)}
${scopeFields(view)}
<div class="footer">
<p>${fill(w.allowing, { app: name(app.name), connected: connectedLink(view) })} ${'device' in asker ? w.deviceAfter : fill(w.returning, { host: strongName(asker.returnsTo) })}</p>
<div class="decision">
<button class="primary" name="decision" value="allow">${w.allow}</button>
<button name="decision" value="refuse">${w.refuse}</button>
</div>
</div>
</form>`,
  })
}

function nowherePage(view: ConsentView): string {
  const { w, app, member, scopes } = view
  const kind = findKind(scopes)
  const heading = html`${renderIcon(app, view)}${fill(w.forMembers[kind], { app: name(app.name) })}`
  return refusalPage(view, {
    title: w.nowhereTitle,
    heading,
    reason: fill(w.nowhere[kind], { member: strongName(member) }),
  })
}

/** The member's clubs decide first, or a guardian. */
function approvalPage(view: ConsentView, closed: readonly ClosedClub[]): string {
  const { w, action, app, member } = view
  const isChild = closed.every(({ by }) => by === 'guardian')
  return document({
    ...view,
    title: isChild ? w.guardianTitle : w.approvalTitle,
    heading: html`${renderIcon(app, view)}${fill(isChild ? w.guardianNeeded : w.approvalNeeded, { app: name(app.name) })}`,
    body: html`<p class="lead">${renderByline(app, w)}</p>
${app.description && html`<p class="about">${name(app.description)}</p>`}
<p>${fill(isChild ? w.guardianHint : w.approvalHint, { member: strongName(member) })} ${otherAccount(view)}</p>
<form method="post" action="${action}/consent">
${closedList(view, closed, 'primary')}
<button${closed.every(({ state }) => state !== 'unasked') && html` class="primary"`} name="decision" value="refuse"><span>${wayBack(view)}</span></button>
</form>`,
  })
}

const closedClubs = (view: ConsentView, closed: readonly ClosedClub[]) =>
  closed.length > 0 && html`<p class="hint">${view.w.alsoClosed}</p>${closedList(view, closed)}`

/** The buttons send no `decision`, so that the other fields have no effect. */
const closedList = ({ w, app }: ConsentView, closed: readonly ClosedClub[], look?: 'primary') => {
  // One filled button a page: the next step.
  const next = look && closed.find(({ state }) => state === 'unasked')?.id
  return html`<ul class="closed">${closed.map(
    ({ id, name: club, by, state, reason }) =>
      html`<li>${strongName(club)}${by === 'guardian' ? `: ${w.guardianClosed[state]}` : ` ${w.closed[state]}`}${reason && html`<p class="hint">${name(reason)}</p>`}${state === 'unasked' && html`<button${id === next && html` class="primary"`} name="ask" value="${id}" formnovalidate><span>${by === 'guardian' ? fill(w.askGuardian, { app: name(app.name) }) : fill(w.askClub, { club: name(club), app: name(app.name) })}</span></button>`}</li>`,
  )}</ul>`
}

type Refused = Omit<
  ConsentView,
  'member' | 'sandbox' | 'organisations' | 'closed' | 'chosen' | 'scopes' | 'shown' | 'problem'
>

/** For a person outside the team of an app that is in development. */
export function developmentPage(view: Refused): string {
  const { title, text } = view.w.messages.inDevelopment
  return refusalPage(view, { title, heading: html`${renderIcon(view.app, view)}${title}`, reason: html`${text}` })
}

/** No decision to make: states the reason, and links back. */
function refusalPage(view: Refused, { title, heading, reason }: { title: string; heading: Html; reason: Html }) {
  const { action } = view
  return document({
    ...view,
    title,
    heading,
    body: html`<p class="lead">${reason} ${otherAccount(view)}</p>
<form method="post" action="${action}/consent">
<button class="primary" name="decision" value="refuse"><span>${wayBack(view)}</span></button>
</form>`,
  })
}

const wayBack = ({ w, app, asker }: Refused) =>
  'device' in asker ? w.refuse : fill(w.backToApp, { app: name(app.name), host: name(asker.returnsTo) })

const otherAccount = ({ w, action }: Pick<ConsentView, 'w' | 'action'>) =>
  html`${w.notYou} <a href="${action}/switch">${w.switchAccount}</a>`

/**
 * Enter in a checkbox presses the form's first button, which would allow the app. This button comes first and does nothing: its
 * method `dialog` has no effect outside a dialog. (Chromium skips a disabled button.)
 */
const noDefault = html`<button formmethod="dialog" hidden></button>`

function organisationField({ w, organisations, chosen, scopes, problem }: ConsentView) {
  const kind = findKind(scopes)
  const first = organisations[0]!
  const { organisation, which } = w
  if (organisations.length === 1) {
    return html`<p class="one">${organisation[kind]} ${strongName(first.name)}<input type="hidden" name="organisation" value="${first.id}"></p>`
  }
  const preset = organisations.some(({ id }) => id === chosen) ? chosen : first.id
  return html`<fieldset${troubled(problem, ['organisationMissing'])}>
<legend>${which[kind]}</legend>
${organisations.map(
  ({ id, name: text }) =>
    html`<label class="choice"><input type="radio" name="organisation" value="${id}" required${id === preset && html` checked`}>${name(text)}</label>`,
)}
</fieldset>`
}

/** In the words of the app's team. */
function renderPurpose({ purposes = {} }: AppView, scope: ConsentScope) {
  const purpose = Object.hasOwn(purposes, scope) && purposes[scope]
  return purpose && html`<span class="purpose">${name(purpose)}</span>`
}

function scopeFields({ w, app, scopes, problem }: ConsentView) {
  // Without the sign-in itself there is nothing to allow.
  const isFixed = (scope: ConsentScope) => scope === 'openid'
  const boxes = (asked: readonly ConsentScope[]) =>
    asked.map(
      (scope) =>
        html`<label class="choice"><input type="checkbox" name="scope" value="${scope}" checked${isFixed(scope) && html` disabled`}><span>${w.scopes[scope]}${renderPurpose(app, scope)}</span></label>`,
    )
  const seeing = scopes.filter((scope) => !changes(scope))
  const changing = scopes.filter(changes)
  const described = troubled(problem, ['scopesMissing'], 'untick')
  return html`<p class="hint" id="untick">${w.untick}</p>
${seeing.length > 0 && html`<fieldset${described}><legend>${w.sees}</legend>${boxes(seeing)}</fieldset>`}
${changing.length > 0 && html`<fieldset class="changing"${described}><legend>${w.changes}</legend>${boxes(changing)}</fieldset>`}`
}
