import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'
import type { Visit } from '../visit.ts'
import type { Words } from './words-en.ts'

/** A change's fields that are pending approval; `shown` has values that are not text. */
export function waiting(
  { w }: Visit,
  wanted: Readonly<Record<string, unknown>> | null,
  shown: Readonly<Record<string, Html>> = {},
) {
  const fields = Object.entries(wanted ?? {}).filter(([, value]) => value !== undefined)
  if (fields.length === 0) return null
  return html`<section class="aside waits"><h2>${w.waiting}</h2>
<dl>${fields.map(([field, value]) => html`<div><dt>${w.fields[field] ?? field}</dt><dd>${shown[field] ?? valueText(value, w)}</dd></div>`)}</dl></section>`
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
