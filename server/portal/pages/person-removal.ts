import { html, name, strongName } from '../../browser/pages/html.ts'
import type { Visit } from '../visit.ts'
import { hidden } from './fields.ts'
import type { Person, Team } from './team-page.ts'
import { teamPage } from './team-page.ts'

export function personRemovalPage(visit: Visit, team: Team, colleague: Person): string {
  const { w, at, person } = visit
  const people = at('teams', team.id, 'people')
  const { id, role } = colleague
  const isSelf = id === person.id
  const title = isSelf ? w.leave : w.removePerson
  return teamPage(visit, team, 'people', {
    title,
    heading: isSelf ? w.leaveQuestion(name(team.name)) : w.removePersonQuestion(name(colleague.name)),
    body: html`<p class="lead">${isSelf ? w.leaveLead(strongName(team.name)) : w.removePersonLead(strongName(colleague.name), w.role[role], strongName(team.name))}</p>
<form method="post" action="${at('teams', team.id, 'people', id)}/remove/confirm">${hidden('confirm', role)}
<div class="buttons"><button class="chief">${title}</button> <a class="button" href="${people}">${w.cancel}</a></div>
</form>`,
  })
}
