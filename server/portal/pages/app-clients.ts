import { developer } from '../../../routers/developer/procedures.ts'
import { html } from '../../browser/pages/html.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import { pager, readOffset } from './pager.ts'
import { scopeOptions } from './scope-options.ts'
import { clientList } from './team.ts'
import type { App, Clients, Team } from './team-page.ts'
import { appPage } from './team-page.ts'

export const clientForm = form('create', developer.clients.create, [
  'name',
  'type',
  'redirectUris',
  'devices',
  'scopes',
])

interface View {
  team: Team
  app: App
  clients: Clients
}

export function clientsPage(request: PageRequest, { team, app, clients: { items, more } }: View): string {
  const { w } = request
  return appPage(request, team, app, 'clients', {
    title: w.clientsTitle,
    body: html`${clientList(request, team, items)}
${pager(request, { offset: readOffset(request), shown: items.length, more })}
${newClient(request, team, app, items.length === 0)}`,
  })
}

function newClient(request: PageRequest, team: Team, app: App, isFirst: boolean) {
  const { w, at } = request
  const { isRefused, field } = clientForm.at(request, { type: 'web' })
  return html`<details class="card"${(isRefused || isFirst) && html` open`}><summary>${w.newClient}</summary>
<form method="post" action="${at('teams', team.id, 'apps', app.id)}/clients/create">
<p class="hint">${w.newClientHint}</p>
${field('name', { label: w.name, hint: w.nameOfTeamHint })}
${field('type', { label: w.clientType, options: Object.entries(w.clientTypes) })}
${field('redirectUris', { label: w.redirects, hint: w.redirectsHint, rows: 3 })}
${field('devices', { label: w.devices, hint: w.devicesHint })}
${field('scopes', { label: w.scopes, hint: w.scopesHint, options: scopeOptions(request, team.scopes) })}
<button class="primary">${w.createClient}</button>
</form></details>`
}
