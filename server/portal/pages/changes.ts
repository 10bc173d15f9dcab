import type { Change } from '../../browser/look/components/diff.ts'
import { formatMoment } from '../../browser/look/components/time.ts'
import type { Html } from '../../browser/pages/html.ts'
import { html } from '../../browser/pages/html.ts'
import type { PageRequest } from '../page-request.ts'
import type { Words } from './words-en.ts'

export type Values = Readonly<Record<string, unknown>>

/** The fields that differ, in the reader's words; of lists and objects, the parts that differ. */
export function listChanges({ w, language }: PageRequest, before: Values | null, after: Values | null): Change[] {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return fields.flatMap((field): Change[] => {
    const [old, next] = [before, after].map((values) => splitValue(values?.[field]))
    const without = (parts: readonly unknown[], others: readonly unknown[]) => {
      const seen = new Set(others.map((one) => JSON.stringify(one)))
      return parts.filter((one) => !seen.has(JSON.stringify(one))).map((one) => valueText(field, one, { w, language }))
    }
    const removed = without(old!, next!)
    const added = without(next!, old!)
    return removed.length + added.length === 0 ? [] : [{ label: w.fields[field] ?? field, removed, added }]
  })
}

/** Its parts, which are compared one by one: the items of a list, and the members of an object. */
function splitValue(value: unknown): readonly unknown[] {
  if (value === undefined || value === null || value === '') return []
  if (Array.isArray(value)) return value
  if (typeof value === 'object') return Object.entries(value).map(([key, one]) => ({ [key]: one }))
  return [value]
}

/** Names of fields that are times: Unix seconds, or ISO text. */
const MOMENT = /^at$|(?:At|Until)$/

/** The words for the values of a field that has a few. */
const findNames = (w: Words): Readonly<Record<string, Readonly<Record<string, string>>>> => ({
  role: w.role,
  level: w.level,
  state: { ...w.addresses.states, ...w.state },
  environment: w.environment,
  type: w.clientTypes,
  rule: w.rules.rules,
  authentication: w.authenticationMethods,
  change: w.testChanges,
})

/** A stored value of a field for display: one line per list item, objects as `key: value`. */
export function valueText(field: string, value: unknown, words: Pick<PageRequest, 'w' | 'language'>): Html {
  const { w, language } = words
  if (isEmpty(value)) return html`–`
  if (Array.isArray(value)) return lines(value.map((one) => valueText(field, one, words)))
  if (typeof value === 'boolean') return html`${value ? w.yes : w.no}`
  if (typeof value === 'object') {
    return lines(
      Object.entries(value!).map(([key, one]) => html`${w.fields[key] ?? key}: ${valueText(key, one, words)}`),
    )
  }
  const moment = typeof value === 'number' ? value : Date.parse(String(value)) / 1_000
  if (MOMENT.test(field) && Number.isFinite(moment)) return formatMoment(moment, language)
  const named = typeof value === 'string' && findNames(w)[field]?.[value]
  return named ? html`${named}` : html`<bdi>${String(value)}</bdi>`
}

const isEmpty = (value: unknown) =>
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)

const lines = (parts: readonly Html[]) => html`${parts.map((part, at) => html`${at > 0 && html`<br>`}${part}`)}`
