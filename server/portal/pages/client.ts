import { redirectFault } from '../../../routers/developer/shared/registration.ts'
import { sectionNames } from '../../../routers/kernel/scopes.ts'
import { scopesAt } from '../../../routers/section-scopes.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { Visit } from '../visit.ts'
import { clientAuthentication } from './client-secrets.ts'
import { deviceChoice } from './device-choice.ts'
import { copyable, fact, hidden } from './fields.ts'
import { formOf } from './form.ts'
import { purposeFields, scopeChoices } from './scope-choices.ts'
import { badge, stateBadge } from './team.ts'
import type { App, Client, ClientOf } from './team-page.ts'
import { clientPage } from './team-page.ts'
import { dayOf } from './times.ts'
import { refusal, waiting } from './waiting.ts'

export interface ClientView extends ClientOf {
  issuer: string
  /** Unix milliseconds. */
  now: number
}

export function clientOverview(visit: Visit, view: ClientView): string {
  const { w, language } = visit
  const { client, issuer } = view
  const isSandbox = client.environment === 'sandbox'
  const of = (section: string) => `${visit.at('teams', view.team.id, section)}?client=${encodeURIComponent(client.id)}`
  return clientPage(visit, view, {
    title: w.client,
    heading: name(client.name),
    body: html`<p>${badge(w.environment[client.environment], isSandbox ? 'plain' : 'good')} ${badge(w.type[client.type], 'plain')} ${stateBadge(visit, client.state)}</p>
${client.testOnly && html`<p class="hint">${w.testOnly}</p>`}
${client.state === 'requested' && html`<p class="hint">${w.requestedHint}</p>`}
<dl class="facts">
${fact(w.clientId, copyable(w.clientId, client.id))}
${fact(w.issuer, copyable(w.issuer, issuer))}
${fact(w.consents, client.consents)}
${client.requestedAt !== null && fact(w.requestedAt, dayOf(client.requestedAt, language))}
</dl>
${isSandbox && actions(visit, view)}
${waiting(visit, client.wanted)}
${refusal(visit, client.refusal, { again: againAt(visit, view) })}
${!isSandbox && client.state === 'active' && html`<p class="hint">${w.reviewHint}</p>`}
${settings(visit, view)}
${scopeForm(visit, view)}
${client.type === 'web' && clientAuthentication(visit, view, view.now)}
<p class="ways"><a href="${of('usage')}">${w.clientUsage}</a> <a href="${of('requests')}">${w.clientRequests}</a> <a href="${ownOf(visit, view)}/remove">${w.removeClient}</a></p>`,
  })
}

const ownOf = ({ at }: Visit, { team, client }: ClientView) => at('teams', team.id, 'clients', client.id)

/** Where a refused request is changed; only owners request production. */
function againAt(visit: Visit, view: ClientView) {
  if (view.client.state !== 'refused') return `${ownOf(visit, view)}?again=yes`
  return view.team.role === 'owner' ? `${ownOf(visit, view)}/production` : null
}

/** The APIs with an endpoint for one of the client's scopes. */
const sectionsOf = ({ scopes }: Client) =>
  sectionNames.filter((section) => scopesAt(section).some((scope) => scopes.includes(scope)))

const actions = (visit: Visit, view: ClientView) => html`<div class="buttons">
${view.client.type === 'web' && view.client.authentication === 'none' && html`<form class="inline" method="post" action="${ownOf(visit, view)}/reference">${visit.w.reference} ${sectionsOf(view.client).map((section) => html`<button name="section" value="${section}">${visit.w.apis[section]}</button> `)}</form>`}
${
  view.team.role === 'owner'
    ? html`<a class="button chief" href="${ownOf(visit, view)}/production">${visit.w.production}</a>`
    : html`<span class="hint">${visit.w.productionOwner}</span>`
}
</div>`

/** The refused values, for the forms that ask again. */
const askedAgain = ({ query }: Visit, { refusal }: Client) => (query.has('again') ? refusal?.asked : undefined)

function settings(visit: Visit, view: ClientView) {
  const { w } = visit
  const { client } = view
  const form = formOf(visit, 'settings')
  const asked = askedAgain(visit, client)
  return html`<form class="sheet" method="post" action="${ownOf(visit, view)}/settings">
<h2>${w.details}</h2>
${hidden('version', client.version)}
${form.field({ id: 'client-name', name: 'name', label: w.name, hint: w.nameHint, value: asked?.name ?? client.name, required: true, maxlength: 100 })}
${form.area({ id: 'client-redirects', name: 'redirects', label: w.redirects, hint: w.redirectsHint, value: (asked?.redirectUris ?? client.redirectUris).join('\n') }, Math.max(3, client.redirectUris.length + 1))}
${deviceChoice(visit, form, asked?.devices ?? client.devices)}
${
  client.scopes.includes('openid') &&
  form.area(
    {
      id: 'client-logouts',
      name: 'logouts',
      label: w.logouts,
      hint: w.logoutsHint,
      value: client.postLogoutRedirectUris.join('\n'),
    },
    Math.max(2, client.postLogoutRedirectUris.length + 1),
  )
}
${
  client.scopes.includes('openid') &&
  form.choice(
    {
      id: 'client-algorithm',
      name: 'idTokenAlgorithm',
      label: w.idTokenAlgorithm,
      hint: w.idTokenAlgorithmHint,
      value: client.idTokenAlgorithm,
    },
    (['RS256', 'ES256'] as const).map((algorithm) => [algorithm, w.idTokenAlgorithms[algorithm]]),
  )
}
<button>${w.save}</button>
</form>`
}

function scopeForm(visit: Visit, view: ClientView) {
  const { w } = visit
  const { client, team } = view
  const form = formOf(visit, 'scopes')
  const asked = askedAgain(visit, client)
  const ticked = form.typed?.getAll('scope') ?? asked?.scopes ?? client.scopes
  const more = team.scopes.filter((scope) => !client.scopes.includes(scope))
  const needsPurpose = client.environment === 'production' && more.length > 0
  return html`<form class="sheet" method="post" action="${ownOf(visit, view)}/scopes">
${hidden('version', client.version)}
${scopeChoices(visit, { form, offered: [...new Set([...team.scopes, ...client.scopes])], ticked, legend: html`<h2>${w.scopes}</h2>` })}
${needsPurpose && purposeFields(visit, form, more, (scope) => (asked ?? client.wanted)?.purpose?.[scope] ?? '')}
<button>${w.save}</button>
</form>`
}

export function productionPage(visit: Visit, view: ClientView): string {
  const { w } = visit
  const { client } = view
  const form = formOf(visit, 'request')
  // Without those that are for development only.
  const allowed = client.redirectUris.filter((uri) => redirectFault(uri, client.type, false) === null)
  return clientPage(visit, view, {
    title: w.production,
    within: true,
    body: html`<p class="lead">${client.state === 'refused' ? w.productionAgain : w.productionLead(name(client.name))}</p>
${client.refusal && html`<p class="problem"><bdi>${client.refusal.reason}</bdi></p>`}
<div class="columns"><div>
<form method="post" action="${ownOf(visit, view)}/production/request">
${form.field({ id: 'client-name', name: 'name', label: w.name, hint: w.nameHint, value: client.name, required: true, maxlength: 100 })}
${form.area({ id: 'client-redirects', name: 'redirects', label: w.redirects, hint: w.redirectsHint, value: allowed.join('\n') }, 3)}
${deviceChoice(visit, form, client.devices)}
${purposeFields(visit, form, client.scopes, (scope) => client.purpose?.[scope] ?? '')}
<div class="buttons"><button class="chief">${w.productionSend}</button> <a class="button" href="${ownOf(visit, view)}">${w.cancel}</a></div>
</form>
</div><div>
${view.app && shownToMembers(visit, view, view.app)}
<h2>${w.productionNext}</h2>
<ol class="steps">${w.productionSteps.map((step) => html`<li>${step}</li>`)}</ol>
</div></div>`,
  })
}

/** What members read of the app on the consent page, and the operator with the request. */
function shownToMembers({ w, at }: Visit, { team }: ClientView, { id, name: title, description, homepage, logo }: App) {
  const missing = html`<em>${w.productionMissing}</em>`
  return html`<h2>${w.productionShown}</h2>
<dl class="facts stacked">
${fact(w.name, name(title))}
${fact(w.description, description === null ? missing : name(description))}
${fact(w.homepage, homepage ?? missing)}
${fact(w.logo, logo === null ? missing : w.yes)}
</dl>
<p class="ways"><a href="${at('teams', team.id, 'apps', id)}">${w.productionComplete}</a></p>`
}

export function removalPage(visit: Visit, view: ClientView): string {
  const { w } = visit
  const { client } = view
  return clientPage(visit, view, {
    title: w.removeClient,
    within: true,
    body: html`<p class="lead">${w.removeLead(client.consents)}</p>
<form method="post" action="${ownOf(visit, view)}/remove/confirm">
<p>${w.removeConfirm(copyable(w.clientId, client.id))}</p>
${formOf(visit, 'confirm').field({ id: 'confirm', name: 'confirm', label: w.confirmation, required: true })}
<div class="buttons"><button class="chief">${w.removeClient}</button> <a class="button" href="${ownOf(visit, view)}">${w.cancel}</a></div>
</form>`,
  })
}
