import { z } from 'zod'
import { developer } from '../../../routers/developer/procedures.ts'
import { sectionNames } from '../../../routers/kernel/scopes.ts'
import { scopesAt } from '../../../routers/section-scopes.ts'
import { badge } from '../../browser/look/components/badge.ts'
import { confirmation } from '../../browser/look/components/confirmation.ts'
import { copyable, fact } from '../../browser/look/components/facts.ts'
import { formatDay } from '../../browser/look/components/time.ts'
import { html } from '../../browser/pages/html.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import { clientAuthentication } from './client-secrets.ts'
import { scopeOptions } from './scope-options.ts'
import { environmentTones, stateBadge } from './team.ts'
import type { Client, TeamClient } from './team-page.ts'
import { clientPage } from './team-page.ts'
import { refusal, waiting } from './waiting.ts'

export interface ClientView extends TeamClient {
  issuer: string
  /** Unix milliseconds. */
  now: number
}

export const settingsForm = form('settings', developer.clients.update, [
  'version',
  'name',
  'redirectUris',
  'devices',
  'postLogoutRedirectUris',
  'idTokenAlgorithm',
])
export const scopesForm = form('set', developer.clients.update, ['version', 'scopes', 'purpose'])
/** The reference of one API, which opens with this client. */
export const referenceForm = form('reference', developer.clients.get, ['section'], {
  own: { section: z.enum(sectionNames) },
})
export const withdrawalForm = form('withdraw', developer.clients.withdrawRequest, ['version'])
export const removalForm = form('confirm', developer.clients.remove, ['confirm'], {
  errorsAt: { confirmationWrong: 'confirm' },
})

export function clientOverview(request: PageRequest, view: ClientView): string {
  const { w, language } = request
  const { client, issuer } = view
  const isSandbox = client.environment === 'sandbox'
  const of = (section: string) =>
    `${request.at('teams', view.team.id, section)}?client=${encodeURIComponent(client.id)}`
  return clientPage(request, view, 'overview', {
    title: w.client,
    heading: html`${w.clientSections.overview}`,
    body: html`<p>${badge(w.environment[client.environment], environmentTones[client.environment])} ${badge(w.type[client.type], 'plain')} ${stateBadge(request, client.state)}</p>
${client.testOnly && html`<p class="hint">${w.testOnly}</p>`}
${client.state === 'requested' && html`<p class="hint">${w.requestedHint}</p>`}
<dl class="facts">
${fact(w.clientId, copyable(w.clientId, client.id))}
${fact(w.issuer, copyable(w.issuer, issuer))}
${fact(w.members, client.members)}
${client.requestedAt !== null && fact(w.requestedAt, formatDay(client.requestedAt, language))}
</dl>
${isSandbox && actions(request, view)}
${waiting(request, client.wanted, client)}
${withdrawal(request, view)}
${client.refusal && refusal(request, client.refusal, { again: againAt(request, view) })}
${!isSandbox && client.state === 'active' && html`<p class="hint">${w.reviewHint}</p>`}
<p class="links"><a href="${request.at('teams', view.team.id, 'clients', client.id, 'start')}">${w.firstCall.title}</a> <a href="${of('usage')}">${w.clientUsage}</a> <a href="${of('requests')}">${w.clientRequests}</a></p>`,
  })
}

/** For changes, or for a client that nobody could use, which only owners ask for. */
function withdrawal(request: PageRequest, view: ClientView) {
  const { client, team } = view
  const isPending = client.wanted !== null || (client.state === 'requested' && team.role === 'owner')
  return (
    isPending &&
    html`<form method="post" action="${clientPageUrl(request, view)}/withdraw">
${withdrawalForm.at(request, client).hidden('version')}
${client.state === 'requested' && html`<p class="hint">${request.w.withdrawHint}</p>`}
<p><button>${client.state === 'requested' ? request.w.withdrawRequest : request.w.withdrawChanges}</button></p>
</form>`
  )
}

export const signInPage = (request: PageRequest, view: ClientView): string =>
  clientPage(request, view, 'sign-in', {
    title: request.w.clientSections['sign-in'],
    body: html`${pendingChanges(request, view)}${settings(request, view)}`,
  })

export const scopesPage = (request: PageRequest, view: ClientView): string =>
  clientPage(request, view, 'scopes', {
    title: request.w.scopes,
    body: html`${pendingChanges(request, view)}${scopeForm(request, view)}`,
  })

/** Above the forms that are filled with them. */
const pendingChanges = (request: PageRequest, view: ClientView) =>
  view.client.wanted &&
  html`${waiting(request, view.client.wanted, view.client)}${withdrawal(request, view)}<p class="hint">${request.w.waitingShown}</p>`

export const credentialsPage = (request: PageRequest, view: ClientView): string =>
  clientPage(request, view, 'credentials', {
    title: request.w.clientSections.credentials,
    body:
      view.client.type === 'web'
        ? clientAuthentication(request, view, view.now)
        : html`<p class="hint">${request.w.authenticationHint}</p>`,
  })

export const clientPageUrl = ({ at }: PageRequest, { team, client }: ClientView) =>
  at('teams', team.id, 'clients', client.id)

/** Where a refused request is changed; only owners request production. */
function againAt(request: PageRequest, view: ClientView) {
  if (view.client.state !== 'refused') {
    const { asked } = view.client.refusal!
    const isOfSignIn = asked.name !== undefined || asked.redirectUris !== undefined || asked.devices !== undefined
    return `${clientPageUrl(request, view)}/${isOfSignIn ? 'sign-in' : 'scopes'}?again=yes`
  }
  return view.team.role === 'owner' ? `${clientPageUrl(request, view)}/production` : null
}

/** The APIs with an endpoint for one of the client's scopes. */
const listSections = ({ scopes }: Client) =>
  sectionNames.filter((section) => scopesAt(section).some((scope) => scopes.includes(scope)))

const actions = (request: PageRequest, view: ClientView) => html`<div class="buttons">
${view.client.type === 'web' && view.client.authentication === 'none' && html`<form class="inline" method="post" action="${clientPageUrl(request, view)}/reference">${request.w.reference} ${listSections(view.client).map((section) => html`<button name="section" value="${section}">${request.w.apis[section]}</button> `)}</form>`}
${
  view.team.role === 'owner'
    ? html`<a class="button primary" href="${clientPageUrl(request, view)}/production">${request.w.production}</a>`
    : html`<span class="hint">${request.w.productionOwner}</span>`
}
</div>`

/** Members read the app's name, or the client's if it has no app. */
export const nameHint = ({ w }: PageRequest, { app }: Client) => (app === null ? w.nameHint : w.nameOfTeamHint)

/** With pending changes, as a form that lacked them would withdraw them; to ask again, with the refused ones. */
function formValues({ query }: PageRequest, client: Client) {
  const asked = query.has('again') ? client.refusal?.asked : undefined
  const { redirectUris = client.redirectUris, scopes = client.scopes, ...others } = { ...client.wanted, ...asked }
  return { ...client, ...others, redirectUris, scopes }
}

function settings(request: PageRequest, view: ClientView) {
  const { w } = request
  const { client } = view
  const values = formValues(request, client)
  const { seen, field } = settingsForm.at(request, values)
  const rows = (least: number, uris: readonly string[]) => Math.max(least, uris.length + 1)
  return html`<form class="card" method="post" action="${clientPageUrl(request, view)}/sign-in/settings" data-unsaved>
${seen('version')}
${field('name', { label: w.name, hint: nameHint(request, client) })}
${field('redirectUris', { label: w.redirects, hint: w.redirectsHint, rows: rows(3, values.redirectUris) })}
${field('devices', { label: w.devices, hint: w.devicesHint })}
${
  client.scopes.includes('openid') &&
  html`${field('postLogoutRedirectUris', { label: w.logouts, hint: w.logoutsHint, rows: rows(2, client.postLogoutRedirectUris) })}
${field('idTokenAlgorithm', { label: w.idTokenAlgorithm, hint: w.idTokenAlgorithmHint, options: Object.entries(w.idTokenAlgorithms) })}`
}
<button class="primary">${w.save}</button>
</form>`
}

function scopeForm(request: PageRequest, view: ClientView) {
  const { w } = request
  const { client, team } = view
  const values = formValues(request, client)
  const { seen, field } = scopesForm.at(request, values)
  const offered = [...new Set([...team.scopes, ...client.scopes, ...values.scopes])]
  const more = offered.filter((scope) => !client.scopes.includes(scope))
  const needsPurpose = client.environment === 'production' && more.length > 0
  return html`<form class="card" method="post" action="${clientPageUrl(request, view)}/scopes/set" data-unsaved>
${seen('version')}
${field('scopes', { label: html`<h2>${w.scopes}</h2>`, hint: w.scopesHint, options: scopeOptions(request, offered) })}
${needsPurpose && field('purpose', { label: w.purpose, hint: w.purposeHint, options: scopeOptions(request, more) })}
<button class="primary">${w.save}</button>
</form>`
}

export function removalPage(request: PageRequest, view: ClientView): string {
  const { w } = request
  const { client } = view
  return clientPage(request, view, 'remove', {
    title: w.removeClient,
    body: confirmation({
      lead: w.removeLead(client.members),
      action: `${clientPageUrl(request, view)}/remove/confirm`,
      fields: html`<p>${w.removeConfirm(copyable(w.clientId, client.id))}</p>
${removalForm.at(request).field('confirm', { label: w.confirmation })}`,
      button: w.removeClient,
      cancel: { text: w.cancel, address: clientPageUrl(request, view) },
    }),
  })
}
