import { isDeepStrictEqual } from 'node:util'
import { formatDay } from '../../browser/look/components/time.ts'
import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'
import type { PageRequest } from '../page-request.ts'
import type { Words } from './words-en.ts'

type Values = Readonly<Record<string, unknown>>

/** A change's fields that are pending approval; `shown` has values that are not text, `current` those that it replaces. */
export function waiting(
  { w }: PageRequest,
  wanted: Values | null,
  shown: Readonly<Record<string, Html>> = {},
  current: Values = {},
) {
  if (!wanted) return wanted
  const diffs = Object.entries(wanted).map(([field, value]) => [
    field,
    shown[field] ?? (field in current ? diff(current[field], value, w) : valueText(value, w)),
  ])
  return html`<section class="aside waits"><h2>${w.waiting}</h2>${fieldList(w, wanted, Object.fromEntries(diffs))}</section>`
}

/** Old and new: what goes, what stays and what comes of a list or an object, else the two values. */
function diff(old: unknown, wanted: unknown, w: Words): Html {
  const [before, after] = [lines(old), lines(wanted)]
  const has = (values: readonly unknown[], value: unknown) => values.some((one) => isDeepStrictEqual(one, value))
  const isText = !Array.isArray(wanted) && typeof wanted !== 'object'
  const [less, more] = isText ? ['', ''] : ['− ', '+ ']
  const gone = before.filter((one) => !has(after, one)).map((one) => html`<del>${less}${valueText(one, w)}</del>`)
  const rest = after.map((one) => (has(before, one) ? valueText(one, w) : html`<ins>${more}${valueText(one, w)}</ins>`))
  return html`${[...gone, ...rest].map((one, at) => html`${at > 0 && (isText ? ' → ' : html`<br>`)}${one}`)}`
}

function lines(value: unknown): unknown[] {
  if (value === null || value === undefined) return []
  if (Array.isArray(value)) return value
  return typeof value === 'object' ? Object.entries(value).map(([key, one]) => ({ [key]: one })) : [value]
}

const fieldList = (w: Words, values: Readonly<Record<string, unknown>>, shown: Readonly<Record<string, Html>>) => {
  const fields = Object.entries(values).filter(([, value]) => value !== undefined)
  return (
    fields.length > 0 &&
    html`<dl>${fields.map(([field, value]) => html`<div><dt>${w.fields[field] ?? field}</dt><dd>${shown[field] ?? valueText(value, w)}</dd></div>`)}</dl>`
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
${fieldList(w, refused.asked, shown)}
${again === null ? html`<p class="hint">${w.productionOwner}</p>` : html`<p><a class="button" href="${again}">${w.askAgain}</a></p>`}</section>`
}

/** A stored value for display: one line per list item, objects as `key: value`. */
export function valueText(value: unknown, w: Words): ReturnType<typeof html> {
  if (value === null || value === undefined || value === '') return html`–`
  if (Array.isArray(value)) return html`${value.map((one, at) => html`${at > 0 && html`<br>`}${valueText(one, w)}`)}`
  if (typeof value === 'boolean') return html`${value ? w.yes : w.no}`
  if (typeof value === 'object') {
    return html`${Object.entries(value).map(([key, one], at) => html`${at > 0 && html`<br>`}${w.fields[key] ?? key}: ${valueText(one, w)}`)}`
  }
  return html`<bdi>${String(value)}</bdi>`
}
