import { z } from 'zod'
import { developer } from '../../../routers/developer/procedures.ts'
import { badge } from '../../browser/look/components/badge.ts'
import { copyable, fact } from '../../browser/look/components/facts.ts'
import { pageContext, readPath } from '../../browser/page-context.ts'
import { html, name } from '../../browser/pages/html.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import { deletionNotice } from './deletion.ts'
import type { Health } from './health.ts'
import { healthTiles, lastError, storageFacts, webhookFacts } from './health.ts'
import { pager, readOffset } from './pager.ts'
import { scopeOptions } from './scope-options.ts'
import { clientList } from './team.ts'
import type { App, Clients, Team } from './team-page.ts'
import { appPage } from './team-page.ts'
import { refusal, waiting } from './waiting.ts'

const renderLogo = ({ ctx }: PageRequest, app: App, version: string, alt: string) =>
  html`<img class="icon" src="${readPath(pageContext(ctx))}/icons/${encodeURIComponent(app.id)}/${version}" width="48" height="48" alt="${alt}">`

const version = z.int()

export const detailsForm = form('details', developer.apps.update, ['version', 'name', 'description', 'homepage'], {
  own: { version },
})
export const logoForm = form('logo', developer.apps.setLogo, ['version', 'picture'], {
  own: { version, picture: z.file() },
})
export const logoRemovalForm = form('remove-logo', developer.apps.removeLogo, ['version'], { own: { version } })
export const clientForm = form('clients', developer.clients.create, [
  'name',
  'type',
  'redirectUris',
  'devices',
  'scopes',
])

function logoForms(request: PageRequest, team: Team, app: App) {
  const { w, at } = request
  const own = at('teams', team.id, 'apps', app.id)
  const logo = logoForm.at(request, { version: app.version })
  return html`<section class="card">
<h2>${w.logo}</h2>
<p>${app.logo === null ? w.logoNone : renderLogo(request, app, app.logo, w.logoAlt(app.name))}</p>
<form method="post" action="${own}/logo" enctype="multipart/form-data">
${logo.hidden('version')}
${logo.field('picture', { label: w.logoFile, hint: w.logoHint, accept: 'image/png, image/jpeg' })}
<div class="buttons"><button>${w.upload}</button>${(app.logo !== null || app.wanted?.logo !== undefined) && html` <button form="remove-logo">${w.removeLogo}</button>`}</div>
</form>
<form id="remove-logo" method="post" action="${own}/remove-logo">${logoRemovalForm.at(request, { version: app.version }).hidden('version')}</form>
</section>`
}

interface Overview {
  team: Team
  app: App
  clients: Clients
  health: Health
  catalogue: string
  clubApproval: boolean
}

export function appOverview(
  request: PageRequest,
  { team, app, clients, health, catalogue, clubApproval }: Overview,
): string {
  const { w, at } = request
  const own = at('teams', team.id, 'apps', app.id)
  return appPage(request, team, app, 'app', {
    title: w.app,
    heading: name(app.name),
    body: html`${app.state === 'suspended' && app.endsAt === null && html`<p>${badge(w.state.suspended, 'bad')}</p>`}
${deletionNotice(request, { own, endsAt: app.endsAt, isOwner: team.role === 'owner' && team.endsAt === null })}
<div class="columns"><div>
${healthTiles(request, health)}
${lastError(request, team, { health, catalogue })}
<h2>${w.clientsTitle}</h2>
${clientList(request, team, clients.items)}
${pager(request, { offset: readOffset(request), shown: clients.items.length, more: clients.more })}
${newClient(request, team, app)}
</div><div>
<dl class="stacked">${fact(w.appId, copyable(w.appId, app.id))}${fact(w.provider, name(app.provider.name))}
${health.webhook && fact(w.webhook, webhookFacts(request, own, health.webhook))}
${fact(w.storage, storageFacts(request, health.storage))}</dl>
${clubApproval && html`<p class="links"><a href="${own}/clubs">${w.clubs.title}</a></p>`}
${waiting(request, app.wanted, app.wanted?.logo === undefined ? {} : { logo: renderLogo(request, app, app.wanted.logo, w.logoWaits) })}
${refusal(request, app.refusal, { again: `${own}?again=yes`, shown: app.refusal?.asked.logo === undefined ? {} : { logo: html`${w.logoRefused}` } })}
${details(request, team, app)}
${logoForms(request, team, app)}
${team.role === 'owner' && app.state === 'active' && html`<p class="links"><a href="${own}/delete">${w.deleteApp}</a></p>`}
</div></div>`,
  })
}

function details(request: PageRequest, team: Team, app: App) {
  const { w, at, query } = request
  const asked = query.has('again') ? app.refusal?.asked : undefined
  const { name, description, homepage } = { ...app, ...asked }
  const { hidden, field } = detailsForm.at(request, { version: app.version, name, description, homepage })
  return html`<form class="card" method="post" action="${at('teams', team.id, 'apps', app.id)}/details" novalidate>
<h2>${w.details}</h2>
${hidden('version')}
${field('name', { label: w.name, hint: w.nameHint })}
${field('description', { label: w.description, rows: 3 })}
${field('homepage', { label: w.homepage, hint: w.homepageHint })}
<button>${w.save}</button>
</form>`
}

function newClient(request: PageRequest, team: Team, app: App) {
  const { w, at } = request
  const { isRefused, field } = clientForm.at(request, { type: 'web' })
  return html`<details class="card"${isRefused && html` open`}><summary>${w.newClient}</summary>
<form method="post" action="${at('teams', team.id, 'apps', app.id)}/clients">
<p class="hint">${w.newClientHint}</p>
${field('name', { label: w.name, hint: w.nameOfTeamHint })}
${field('type', { label: w.clientType, options: Object.entries(w.clientTypes) })}
${field('redirectUris', { label: w.redirects, hint: w.redirectsHint, rows: 3 })}
${field('devices', { label: w.devices, hint: w.devicesHint })}
${field('scopes', { label: w.scopes, hint: w.scopesHint, options: scopeOptions(request, team.scopes) })}
<button class="primary">${w.createClient}</button>
</form></details>`
}
