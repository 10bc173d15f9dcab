import { html, name } from '../../browser/pages/html.ts'
import type { Developer } from '../client.ts'
import type { Visit } from '../visit.ts'
import { offsetOf, pager } from './pager.ts'
import { table } from './table.ts'
import type { Team } from './team-page.ts'
import { teamPage } from './team-page.ts'
import { momentOf } from './times.ts'
import { valueText } from './waiting.ts'

type Audit = Awaited<ReturnType<Developer['audit']['list']>>
type Entry = Audit['items'][number]

export function auditPage(visit: Visit, team: Team, { items, total }: Audit): string {
  const { w, language } = visit
  const offset = offsetOf(visit)
  const rows = items.map((entry) => [
    momentOf(entry.at, language),
    entry.action === 'invitation.decline'
      ? '–'
      : entry.by === null
        ? w.operator
        : entry.by.name === null
          ? w.erased
          : name(entry.by.name),
    w.auditActions[entry.action] ?? html`<code>${entry.action}</code>`,
    entry.target === ''
      ? w.erased
      : entry.targetName === null
        ? html`<code>${entry.target}</code>`
        : name(entry.targetName),
    changes(visit, entry),
  ])
  return teamPage(visit, team, 'audit', {
    title: w.audit,
    body: html`${rows.length === 0 ? html`<p>${w.auditNone}</p>` : table(w.audit, [w.time, w.who, w.what, w.target, w.changes], rows)}
${pager(visit, { offset, shown: items.length, more: offset + items.length < total, total })}
<p class="hint">${w.utc}</p>`,
  })
}

function changes({ w }: Visit, { before, after }: Entry) {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  const differing = fields.filter((field) => JSON.stringify(before?.[field]) !== JSON.stringify(after?.[field]))
  if (differing.length === 0) return w.none
  return html`<dl>${differing.map(
    (field) =>
      html`<div><dt>${w.fields[field] ?? field}</dt><dd>${isThere(before?.[field]) && html`<del>${valueText(before![field], w)}</del> `}${after !== null && html`<ins>${valueText(after[field], w)}</ins>`}</dd></div>`,
  )}</dl>`
}

const isThere = (value: unknown) => value !== undefined && value !== null && value !== ''
