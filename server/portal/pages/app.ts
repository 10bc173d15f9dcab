import { pageContext, pathOf } from '../../browser/page-context.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { Visit } from '../visit.ts'
import { deletionNotice } from './deletion.ts'
import { deviceChoice } from './device-choice.ts'
import { copyable, fact, hidden } from './fields.ts'
import { formOf } from './form.ts'
import type { Health } from './health.ts'
import { healthTiles, lastError, storageFacts, webhookFacts } from './health.ts'
import { offsetOf, pager } from './pager.ts'
import { scopeChoices } from './scope-choices.ts'
import { badge, clientList } from './team.ts'
import type { App, Clients, Team } from './team-page.ts'
import { appPage } from './team-page.ts'
import { refusal, waiting } from './waiting.ts'

const logoOf = ({ ctx }: Visit, app: App, version: string, alt: string) =>
  html`<img class="icon" src="${pathOf(pageContext(ctx))}/icons/${encodeURIComponent(app.id)}/${version}" width="48" height="48" alt="${alt}">`

function logoForms(visit: Visit, team: Team, app: App) {
  const { w, at } = visit
  const own = at('teams', team.id, 'apps', app.id)
  return html`<section class="sheet">
<h2>${w.logo}</h2>
<p>${app.logo === null ? w.logoNone : logoOf(visit, app, app.logo, w.logoOf(app.name))}</p>
<form method="post" action="${own}/logo" enctype="multipart/form-data">
${hidden('version', app.version)}
${formOf(visit, 'logo').upload({ id: 'app-logo', name: 'picture', label: w.logoFile, hint: w.logoHint, accept: 'image/png, image/jpeg' })}
<div class="buttons"><button>${w.upload}</button>${(app.logo !== null || app.wanted?.logo !== undefined) && html` <button form="remove-logo">${w.removeLogo}</button>`}</div>
</form>
<form id="remove-logo" method="post" action="${own}/remove-logo">${hidden('version', app.version)}</form>
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

export function appOverview(visit: Visit, { team, app, clients, health, catalogue, clubApproval }: Overview): string {
  const { w, at } = visit
  const own = at('teams', team.id, 'apps', app.id)
  return appPage(visit, team, app, 'app', {
    title: w.app,
    heading: name(app.name),
    body: html`${app.state === 'suspended' && app.endsAt === null && html`<p>${badge(w.state.suspended, 'bad')}</p>`}
${deletionNotice(visit, { own, endsAt: app.endsAt, isOwner: team.role === 'owner' && team.endsAt === null })}
<div class="columns"><div>
${healthTiles(visit, health)}
${lastError(visit, team, { health, catalogue })}
<h2>${w.clientsOf}</h2>
${clientList(visit, team, clients.items)}
${pager(visit, { offset: offsetOf(visit), shown: clients.items.length, more: clients.more })}
${newClient(visit, team, app)}
</div><div>
<dl class="stacked">${fact(w.appId, copyable(w.appId, app.id))}${fact(w.provider, name(app.provider.name))}
${health.webhook && fact(w.webhook, webhookFacts(visit, own, health.webhook))}
${fact(w.storage, storageFacts(visit, health.storage))}</dl>
${clubApproval && html`<p class="ways"><a href="${own}/clubs">${w.clubs.title}</a></p>`}
${waiting(visit, app.wanted, app.wanted?.logo === undefined ? {} : { logo: logoOf(visit, app, app.wanted.logo, w.logoWaits) })}
${refusal(visit, app.refusal, { again: `${own}?again=yes`, shown: app.refusal?.asked.logo === undefined ? {} : { logo: html`${w.logoRefused}` } })}
${details(visit, team, app)}
${logoForms(visit, team, app)}
${team.role === 'owner' && app.state === 'active' && html`<p class="ways"><a href="${own}/delete">${w.deleteApp}</a></p>`}
</div></div>`,
  })
}

function details(visit: Visit, team: Team, app: App) {
  const { w, at, query } = visit
  const form = formOf(visit, 'details')
  const asked = query.has('again') ? app.refusal?.asked : undefined
  const value = (of: 'name' | 'description' | 'homepage') => asked?.[of] ?? app[of] ?? ''
  return html`<form class="sheet" method="post" action="${at('teams', team.id, 'apps', app.id)}/details" novalidate>
<h2>${w.details}</h2>
${hidden('version', app.version)}
${form.field({ id: 'app-name', name: 'name', label: w.name, hint: w.nameHint, value: value('name'), required: true, maxlength: 100 })}
${form.area({ id: 'app-description', name: 'description', label: w.description, value: value('description') }, 3)}
${form.field({ id: 'app-homepage', name: 'homepage', label: w.homepage, hint: w.homepageHint, type: 'url', value: value('homepage') })}
<button>${w.save}</button>
</form>`
}

function newClient(visit: Visit, team: Team, app: App) {
  const { w, at } = visit
  const form = formOf(visit, 'clients')
  return html`<details class="sheet"${form.typed && html` open`}><summary>${w.newClient}</summary>
<form method="post" action="${at('teams', team.id, 'apps', app.id)}/clients">
<p class="hint">${w.newClientHint}</p>
${form.field({ id: 'client-name', name: 'name', label: w.name, hint: w.nameHint, required: true, maxlength: 100 })}
${form.choice({ id: 'client-type', name: 'type', label: w.clientType, value: 'web' }, [
  ['web', w.clientTypes.web],
  ['native', w.clientTypes.native],
])}
${form.area({ id: 'client-redirects', name: 'redirects', label: w.redirects, hint: w.redirectsHint }, 3)}
${deviceChoice(visit, form, false)}
${scopeChoices(visit, { form, offered: team.scopes, ticked: form.typed?.getAll('scope') ?? [] })}
<button class="chief">${w.createClient}</button>
</form></details>`
}
