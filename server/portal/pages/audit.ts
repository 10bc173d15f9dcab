import { table } from '../../browser/look/components/table.ts'
import { formatMoment } from '../../browser/look/components/time.ts'
import { html, name } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { PageRequest } from '../page-request.ts'
import { pager, readOffset } from './pager.ts'
import type { Team } from './team-page.ts'
import { teamPage } from './team-page.ts'
import { valueText } from './waiting.ts'

type Audit = Awaited<ReturnType<Developer['audit']['list']>>
type Entry = Audit['items'][number]

export function auditPage(request: PageRequest, team: Team, { items, more }: Audit): string {
  const { w, language } = request
  const offset = readOffset(request)
  const rows = items.map((entry) => [
    html`${w.auditActions[entry.action] ?? html`<code>${entry.action}</code>`}<strong>${renderTarget(request, team, entry)}</strong>
<p class="hint">${formatMoment(entry.at, language)}${by(request, entry)}</p>`,
    changes(request, entry),
  ])
  return teamPage(request, team, 'audit', {
    title: w.audit,
    body: html`${rows.length === 0 ? html`<p>${w.auditNone}</p>` : table(w.audit, [w.what, w.changes], rows)}
${pager(request, { offset, shown: items.length, more })}
<p class="hint">${w.utc}</p>`,
  })
}

/** The team does not learn who declined an invitation, nor who decided for a club. */
function by({ w }: PageRequest, { action, by, client }: Entry) {
  if (action === 'invitation.decline' || action.startsWith('club.')) return null
  if (client) return html`<br>${w.client} ${client.name === null ? html`<code>${client.id}</code>` : name(client.name)}`
  return html`<br>${by === null ? w.operator : by.name === null ? w.erased : name(by.name)}`
}

/** Apps and clients that exist are links. */
function renderTarget({ w, at }: PageRequest, team: Team, { action, target, targetName }: Entry) {
  if (target === '') return w.erased
  const [subject] = action.split('.')
  const type = subject === 'secret' ? 'client' : subject === 'club' ? 'app' : subject
  if (targetName === null) return html`<code>${target}</code>`
  if (type !== 'app' && type !== 'client') return name(targetName)
  return html`<a href="${at('teams', team.id, `${type}s`, target)}">${name(targetName)}</a>`
}

function changes({ w }: PageRequest, { before, after }: Entry) {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  const differing = fields.filter((field) => JSON.stringify(before?.[field]) !== JSON.stringify(after?.[field]))
  if (differing.length === 0) return w.none
  return html`<dl>${differing.map(
    (field) =>
      html`<div><dt>${w.fields[field] ?? field}</dt><dd>${isThere(before?.[field]) && html`<del>${valueText(before![field], w)}</del> `}${after !== null && html`<ins>${valueText(after[field], w)}</ins>`}</dd></div>`,
  )}</dl>`
}

const isThere = (value: unknown) => value !== undefined && value !== null && value !== ''
