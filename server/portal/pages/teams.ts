import { html, name } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { PageRequest } from '../page-request.ts'
import type { Invitation } from './invitation.ts'
import { portalPage } from './layout.ts'
import type { Signup } from './team-signup.ts'
import { teamSignup } from './team-signup.ts'

type Teams = Awaited<ReturnType<Developer['teams']['list']>>['items']

interface Shown {
  teams: Teams
  invitations: readonly Invitation[]
  signup: Signup
}

export function teamsPage(request: PageRequest, { teams, invitations, signup }: Shown): string {
  const { w, at, person } = request
  return portalPage(request, {
    title: w.teams,
    body: html`<p class="hint">${w.signedInAs(person.email)}</p>
${
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
}
${teamSignup(request, signup, teams.length === 0)}`,
  })
}
