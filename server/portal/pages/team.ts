import { developer } from '../../../routers/developer/procedures.ts'
import { badge } from '../../browser/look/components/badge.ts'
import { dayText } from '../../browser/look/components/time.ts'
import { html, name } from '../../browser/pages/html.ts'
import { form } from '../forms/form.ts'
import type { PageRequest } from '../page-request.ts'
import { deletionNotice } from './deletion.ts'
import { pager, readOffset } from './pager.ts'
import type { Apps, ClientSummary, Team } from './team-page.ts'
import { teamPage } from './team-page.ts'

/** Per page. */
export const APPS_SHOWN = 10
/** The clients of these apps together: each has 20 at most. */
export const CLIENTS_SHOWN = 200
/** Each app shows this many; the others are on its page. */
const CLIENTS_OF_APP_SHOWN = 5

export const appForm = form('apps', developer.apps.create, ['name', 'provider'])

interface Overview {
  team: Team
  apps: Apps
  clients: readonly ClientSummary[]
  providers: readonly { id: string; name: string }[]
}

export function teamOverview(request: PageRequest, { team, apps, clients, providers }: Overview): string {
  const { w, at } = request
  const own = at('teams', team.id)
  const listClients = (app: string | null) => clients.filter((client) => client.app === app)
  const alone = listClients(null)
  const { isRefused, field } = appForm.at(request)
  const isNew = apps.items.length === 0 && readOffset(request) === 0
  return teamPage(request, team, 'apps', {
    title: w.team,
    heading: html`${w.sections.apps}`,
    body: html`${deletionNotice(request, { own, endsAt: team.endsAt, isOwner: team.role === 'owner' })}
<p class="lead">${w.teamFacts(w.level[team.level], w.role[team.role])}</p>
${
  isNew &&
  html`<p>${w.appsNone}</p>
<ol class="steps">${w.firstSteps.map((step) => html`<li>${step}</li>`)}</ol>`
}
${apps.items.map(
  ({ id, name: title, state, endsAt }) => html`<section class="entry">
<h2><a href="${own}/apps/${encodeURIComponent(id)}">${name(title)}</a></h2> ${endsAt !== null ? badge(w.deletedOn(dayText(endsAt, request.language)), 'bad') : state === 'suspended' && badge(w.state.suspended, 'bad')}
${clientsOfApp(request, team, id, listClients(id))}
</section>
`,
)}${alone.length > 0 && html`<section class="entry"><h2>${w.clientsAlone}</h2>${clientList(request, team, alone)}</section>`}
${pager(request, { offset: readOffset(request), shown: apps.items.length, more: apps.more }, APPS_SHOWN)}
${providers.length === 0 && html`<p class="hint">${w.providersNone}</p>`}
${
  providers.length > 0 &&
  html`<details class="card"${(isRefused || isNew) && html` open`}><summary>${w.newApp}</summary>
<form method="post" action="${own}/apps">
${field('name', { label: w.name, hint: w.nameHint })}
${field('provider', { label: w.provider, options: providers.map((provider) => [provider.id, provider.name]) })}
<button class="primary">${w.createApp}</button>
</form></details>`
}
${team.role === 'owner' && team.endsAt === null && html`<p class="links"><a href="${own}/delete">${w.deleteTeam}</a></p>`}`,
  })
}

function clientsOfApp(request: PageRequest, team: Team, app: string, clients: readonly ClientSummary[]) {
  const { w, at } = request
  const more = clients.length - CLIENTS_OF_APP_SHOWN
  return html`${clientList(request, team, clients.slice(0, CLIENTS_OF_APP_SHOWN))}${
    more > 0 &&
    html`<p class="hint"><a href="${at('teams', team.id, 'apps', app)}/clients">${w.moreClients(more)}</a></p>`
  }`
}

export function clientList(request: PageRequest, team: Team, clients: readonly ClientSummary[]) {
  const { w, at } = request
  if (clients.length === 0) return html`<p class="hint">${w.clientsNone}</p>`
  return html`<ul class="entries">
${clients.map(
  ({
    id,
    name: title,
    environment,
    state,
  }) => html`<li><a href="${at('teams', team.id, 'clients', id)}">${name(title)}</a>
${badge(w.environment[environment], environmentTones[environment])} ${stateBadge(request, state)}</li>
`,
)}</ul>`
}

export const environmentTones = { production: 'good', sandbox: 'pending' } as const

export const stateBadge = ({ w }: PageRequest, state: ClientSummary['state']) =>
  state !== 'active' && badge(w.state[state], state === 'requested' ? 'pending' : 'bad')
