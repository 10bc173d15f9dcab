import type { Tone } from '../../browser/look/components/badge.ts'
import { emptyState } from '../../browser/look/components/empty-state.ts'
import { timeAgo } from '../../browser/look/components/time.ts'
import { timeline } from '../../browser/look/components/timeline.ts'
import type { IconName } from '../../browser/look/icons/icon-names.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { PageRequest } from '../page-request.ts'
import { auditChanges } from './audit-changes.ts'
import { pager, readOffset } from './pager.ts'
import type { Team } from './team-page.ts'
import { teamPage } from './team-page.ts'

type Audit = Awaited<ReturnType<Developer['audit']['list']>>
type Entry = Audit['items'][number]

export function auditPage(request: PageRequest, team: Team, { items, more }: Audit): string {
  const { w } = request
  const entries = items.map((entry) => ({
    ...findMark(entry.action),
    title: html`${w.auditActions[entry.action] ?? html`<code>${entry.action}</code>`}: ${renderTarget(request, team, entry)}`,
    hint: html`${timeAgo(entry.at, request)}${by(request, entry)}`,
    body: auditChanges(request, entry.before, entry.after),
  }))
  return teamPage(request, team, 'audit', {
    title: w.audit,
    body: html`${entries.length === 0 ? emptyState('inbox', w.auditNone) : timeline(w.audit, entries)}
${pager(request, { offset: readOffset(request), shown: items.length, more })}
<p class="hint">${w.utc}</p>`,
  })
}

/** Green is in force from then on, amber waits, red has ended; other changes have no colour. */
const marks: readonly (readonly [pattern: RegExp, icon: IconName, tone: Tone])[] = [
  [/\.(?:remove|endFormerSecret|reset)$/, 'trash', 'bad'],
  [/\.(?:refuse|withdraw|decline)$/, 'circle-x', 'bad'],
  [/\.(?:approve|join|restore)$/, 'circle-check', 'good'],
  [/\.request$/, 'clock', 'pending'],
  [/\.create$/, 'plus', 'plain'],
]

function findMark(action: string) {
  const [, icon, tone] = marks.find(([pattern]) => pattern.test(action)) ?? ([/./, 'pencil', 'plain'] as const)
  return { icon, tone }
}

/** The team does not learn who declined an invitation, nor who decided for a club. */
function by({ w }: PageRequest, { action, by, client }: Entry) {
  if (action === 'invitation.decline' || action.startsWith('club.')) return null
  if (client) return html` · ${w.client} ${client.name === null ? html`<code>${client.id}</code>` : name(client.name)}`
  return html` · ${by === null ? w.operator : by.name === null ? w.erased : name(by.name)}`
}

/** Actions of these subjects have the id of an app or a client. */
const TYPES: Readonly<Record<string, string>> = {
  secret: 'client',
  club: 'app',
  rule: 'app',
  webhook: 'app',
  address: 'app',
}

/** Apps and clients that exist are links. */
function renderTarget({ w, at }: PageRequest, team: Team, { action, target, targetName }: Entry) {
  if (target === '') return w.erased
  const [subject] = action.split('.')
  const type = TYPES[subject!] ?? subject
  if (targetName === null) return html`<code>${target}</code>`
  if (type !== 'app' && type !== 'client') return name(targetName)
  return html`<a href="${at('teams', team.id, `${type}s`, target)}">${name(targetName)}</a>`
}
