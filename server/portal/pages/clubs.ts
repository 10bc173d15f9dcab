import { table } from '../../browser/look/components/table.ts'
import { formatDay } from '../../browser/look/components/time.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { PageRequest } from '../page-request.ts'
import { pager, readOffset } from './pager.ts'
import type { App, Team } from './team-page.ts'
import { appPage } from './team-page.ts'

type Clubs = Awaited<ReturnType<Developer['apps']['clubs']>>

export function clubsPage(
  request: PageRequest,
  { team, app }: { team: Team; app: App },
  { items, more }: Clubs,
): string {
  const { w, language } = request
  const rows = items.map(({ club, state, reason, at }) => [
    html`${name(club.name)}<br><code>${club.id}</code>`,
    html`${w.clubs.states[state]}${reason !== null && html`<br>${name(reason)}`}`,
    formatDay(at, language),
  ])
  return appPage(request, team, app, 'overview', {
    title: w.clubs.title,
    body: html`<p class="lead">${w.clubs.lead}</p>
${rows.length === 0 ? html`<p>${w.clubs.none}</p>` : table(w.clubs.title, [w.clubs.club, w.clubs.state, w.since], rows)}
${pager(request, { offset: readOffset(request), shown: items.length, more })}`,
  })
}
