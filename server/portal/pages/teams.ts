import { html, name } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { PageRequest } from '../page-request.ts'
import type { Invitation } from './invitation.ts'
import { portalPage } from './layout.ts'

type Teams = Awaited<ReturnType<Developer['teams']['list']>>['items']

export function teamsPage(request: PageRequest, teams: Teams, invitations: readonly Invitation[]): string {
  const { w, at } = request
  return portalPage(request, {
    title: w.teams,
    body: html`${
      invitations.length > 0 &&
      html`<section class="aside waits"><h2>${w.invitations}</h2>
<ul class="entries">
${invitations.map(({ id, team }) => html`<li><a href="${at('invitations', id)}">${w.invitedTo(name(team.name))}</a></li>`)}
</ul></section>`
    }
${
  teams.length === 0
    ? html`<p>${w.teamsNone}</p>`
    : html`<p class="lead">${w.teamsLead}</p>
<ul class="entries">
${teams.map(
  ({ id, name: title, level, role }) => html`<li><a href="${at('teams', id)}">${name(title)}</a>
<span>${w.teamFacts(w.level[level], w.role[role])}</span></li>
`,
)}</ul>`
}`,
  })
}
