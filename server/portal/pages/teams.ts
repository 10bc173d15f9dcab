import { html, name } from '../../pages/html.ts'
import type { Developer } from '../client.ts'
import type { Visit } from '../visit.ts'
import { portalPage } from './layout.ts'

type Teams = Awaited<ReturnType<Developer['teams']['list']>>['items']

export function teamsPage(visit: Visit, teams: Teams): string {
  const { w, at } = visit
  return portalPage(visit, {
    title: w.teams,
    body:
      teams.length === 0
        ? html`<p>${w.teamsNone}</p>`
        : html`<p class="lead">${w.teamsLead}</p>
<ul class="entries">
${teams.map(
  ({ id, name: title, level, role }) => html`<li><a href="${at('teams', id)}">${name(title)}</a>
<span>${w.teamFacts(w.level[level], w.role[role])}</span></li>
`,
)}</ul>`,
  })
}
