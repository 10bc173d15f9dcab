import { html, name } from '../../browser/pages/html.ts'
import type { Visit } from '../visit.ts'
import { deletionNotice } from './deletion.ts'
import { formOf } from './form.ts'
import { offsetOf, pager } from './pager.ts'
import type { Apps, ClientSummary, Team } from './team-page.ts'
import { teamPage } from './team-page.ts'
import { dayText } from './times.ts'

/** Per page. */
export const APPS_SHOWN = 10
/** Of these apps together: each has 20 at most. */
export const CLIENTS_SHOWN = 200
/** Of each app; the others are on its page. */
const CLIENTS_OF_APP_SHOWN = 5

interface Overview {
  team: Team
  apps: Apps
  clients: readonly ClientSummary[]
  providers: readonly { id: string; name: string }[]
}

export function teamOverview(visit: Visit, { team, apps, clients, providers }: Overview): string {
  const { w, at } = visit
  const own = at('teams', team.id)
  const clientsOf = (app: string | null) => clients.filter((client) => client.app === app)
  const alone = clientsOf(null)
  const form = formOf(visit, 'apps')
  const isNew = apps.items.length === 0 && offsetOf(visit) === 0
  return teamPage(visit, team, 'apps', {
    title: w.team,
    heading: name(team.name),
    body: html`${deletionNotice(visit, { own, endsAt: team.endsAt, isOwner: team.role === 'owner' })}
<p class="lead">${w.teamFacts(w.level[team.level], w.role[team.role])}</p>
${
  isNew &&
  html`<p>${w.appsNone}</p>
<ol class="steps">${w.firstSteps.map((step) => html`<li>${step}</li>`)}</ol>`
}
${apps.items.map(
  ({ id, name: title, state, endsAt }) => html`<section class="entry">
<h2><a href="${own}/apps/${encodeURIComponent(id)}">${name(title)}</a></h2> ${endsAt !== null ? badge(w.deletedOn(dayText(endsAt, visit.language)), 'bad') : state === 'suspended' && badge(w.state.suspended, 'bad')}
${clientsOfApp(visit, team, id, clientsOf(id))}
</section>
`,
)}${alone.length > 0 && html`<section class="entry"><h2>${w.clientsAlone}</h2>${clientList(visit, team, alone)}</section>`}
${pager(visit, { offset: offsetOf(visit), shown: apps.items.length, more: apps.more }, APPS_SHOWN)}
${providers.length === 0 && html`<p class="hint">${w.providersNone}</p>`}
${
  providers.length > 0 &&
  html`<details class="sheet"${(form.typed || isNew) && html` open`}><summary>${w.newApp}</summary>
<form method="post" action="${own}/apps">
${form.field({ id: 'app-name', name: 'name', label: w.name, hint: w.nameHint, required: true, maxlength: 100 })}
${form.choice(
  { id: 'app-provider', name: 'provider', label: w.provider },
  providers.map((provider) => [provider.id, provider.name]),
)}
<button class="chief">${w.createApp}</button>
</form></details>`
}
${team.role === 'owner' && team.endsAt === null && html`<p class="ways"><a href="${own}/delete">${w.deleteTeam}</a></p>`}`,
  })
}

function clientsOfApp(visit: Visit, team: Team, app: string, clients: readonly ClientSummary[]) {
  const { w, at } = visit
  const more = clients.length - CLIENTS_OF_APP_SHOWN
  return html`${clientList(visit, team, clients.slice(0, CLIENTS_OF_APP_SHOWN))}${
    more > 0 && html`<p class="hint"><a href="${at('teams', team.id, 'apps', app)}">${w.moreClients(more)}</a></p>`
  }`
}

export function clientList(visit: Visit, team: Team, clients: readonly ClientSummary[]) {
  const { w, at } = visit
  if (clients.length === 0) return html`<p class="hint">${w.clientsNone}</p>`
  return html`<ul class="entries">
${clients.map(
  ({
    id,
    name: title,
    environment,
    state,
  }) => html`<li><a href="${at('teams', team.id, 'clients', id)}">${name(title)}</a>
${badge(w.environment[environment], environment === 'production' ? 'good' : 'plain')} ${stateBadge(visit, state)}</li>
`,
)}</ul>`
}

export const stateBadge = ({ w }: Visit, state: ClientSummary['state']) =>
  state !== 'active' && badge(w.state[state], state === 'refused' ? 'bad' : 'plain')

export const badge = (text: string, kind: 'good' | 'bad' | 'plain') => html`<span class="badge ${kind}">${text}</span>`
