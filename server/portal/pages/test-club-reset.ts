import { html } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { Visit } from '../visit.ts'
import { fact } from './fields.ts'
import type { Team } from './team-page.ts'
import { teamPage } from './team-page.ts'

type Holdings = Awaited<ReturnType<Developer['testClub']['holdings']>>

export function testClubResetPage(visit: Visit, team: Team, { entries, bytes, results }: Holdings): string {
  const { w, at } = visit
  const own = at('teams', team.id, 'test-club')
  return teamPage(visit, team, 'test-club', {
    title: w.testClubReset,
    heading: html`${w.testClubResetQuestion}`,
    body: html`<p class="lead">${w.testClubResetLead}</p>
<dl class="facts">${fact(w.storedEntries, entries === 0 ? w.storageNone : html`${w.count(entries)} (${w.bytes(bytes)})`)}${fact(w.quizResults, w.count(results))}</dl>
<p>${w.testClubResetStays}</p>
<form method="post" action="${own}/reset/confirm">
<div class="buttons"><button class="chief">${w.testClubReset}</button> <a class="button" href="${own}">${w.cancel}</a></div>
</form>`,
  })
}
