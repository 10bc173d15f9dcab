import type { Change } from '../../browser/look/components/diff.ts'
import { diff } from '../../browser/look/components/diff.ts'
import { formatDay } from '../../browser/look/components/time.ts'
import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'
import type { PageRequest } from '../page-request.ts'
import type { Values } from './changes.ts'
import { listChanges, valueText } from './changes.ts'

/** The fields of a change that is pending approval; `current` has those that it replaces, `shown` values that are not text. */
export function waiting(
  request: PageRequest,
  wanted: Values | null,
  current: Values,
  shown: Readonly<Record<string, Html>> = {},
) {
  if (!wanted) return wanted
  const { w, language } = request
  const changes = Object.entries(wanted).flatMap(([field, value]): Change[] => {
    if (value === undefined) return []
    if (shown[field]) return [{ label: w.fields[field] ?? field, removed: [], added: [shown[field]] }]
    return listChanges(request, { [field]: current[field] }, { [field]: value })
  })
  return html`<section class="aside"><h2>${w.waiting}</h2>${changes.length > 0 && diff(changes, language)}</section>`
}

const fieldList = (
  { w, language }: Pick<PageRequest, 'w' | 'language'>,
  values: Readonly<Record<string, unknown>>,
  shown: Readonly<Record<string, Html>>,
) => {
  const fields = Object.entries(values).filter(([, value]) => value !== undefined)
  return (
    fields.length > 0 &&
    html`<dl>${fields.map(([field, value]) => html`<div><dt>${w.fields[field] ?? field}</dt><dd>${shown[field] ?? valueText(field, value, { w, language })}</dd></div>`)}</dl>`
  )
}

/** Why the last request was refused, beside what was asked for. `again` leads to the form that asks again; null for developers. */
export function refusal(
  { w, language }: PageRequest,
  refused: { reason: string; at: number; asked: Readonly<Record<string, unknown>> } | null,
  { again, shown = {} }: { again: string | null; shown?: Readonly<Record<string, Html>> },
) {
  if (!refused) return null
  return html`<section class="aside refusal"><h2>${w.refusedAt(formatDay(refused.at, language))}</h2>
<p><bdi>${refused.reason}</bdi></p>
${fieldList({ w, language }, refused.asked, shown)}
${again === null ? html`<p class="hint">${w.productionOwner}</p>` : html`<p><a class="button" href="${again}">${w.askAgain}</a></p>`}</section>`
}
