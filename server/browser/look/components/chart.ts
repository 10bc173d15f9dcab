import type { PortalLanguage } from '../../language.ts'
import { html } from '../../pages/html.ts'
import type { Tone } from './badge.ts'
import { countText } from './number-text.ts'
import { table } from './table.ts'
import { formatMoment } from './time.ts'
import { componentWords } from './words.ts'

interface Series {
  name: string
  tone: Tone
}

export interface Interval {
  /** The beginning, in Unix seconds. */
  at: number
  /** One for each series. */
  values: readonly number[]
}

interface Chart {
  label: string
  language: PortalLanguage
  /** From the lowest part of a bar to the highest. */
  series: readonly Series[]
  /** Equally long, including the empty ones; the last one is now. */
  intervals: readonly Interval[]
}

const [HEIGHT, BAR, GAP] = [100, 10, 2]
const STEPS = [1, 2, 4, 6, 8, 10] as const

const locales = { en: 'en-GB', de: 'de-DE' } as const
const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)

/** The upper end of an axis: a round number whose half is whole. */
export function axisTop(highest: number): number {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(2, highest))))
  return STEPS.map((step) => step * power).find((top) => top >= Math.max(2, highest))!
}

/**
 * Bars over time with an axis, the last value and the values as a table. To hover a bar is the script's addition: it writes the
 * time in the reader's zone.
 */
export function chart({ label, language, series, intervals }: Chart) {
  const w = componentWords[language]
  const totals = intervals.map(({ values }) => sum(values))
  const top = axisTop(Math.max(...totals))
  const last = w.last(totals.at(-1)!)
  const count = (value: number) => countText(value, locales[language])
  const scaled = (value: number) => Math.round((value / top) * HEIGHT * 100) / 100
  const width = intervals.length * (BAR + GAP)
  const bar = ({ at, values }: Interval, index: number) => {
    let below = 0
    const parts = values.map((value, part) => {
      below += value
      return (
        value > 0 &&
        html`<rect class="${series[part]!.tone}" x="${index * (BAR + GAP)}" y="${HEIGHT - scaled(below)}" width="${BAR}" height="${scaled(value)}"/>`
      )
    })
    const shown = series.flatMap(({ name }, part) => (values[part]! > 0 ? `${name}: ${count(values[part]!)}` : []))
    const text = shown.join(', ') || count(0)
    return html`<g data-at="${at}" data-text="${text}"><rect class="hover" x="${index * (BAR + GAP) - GAP / 2}" y="0" width="${BAR + GAP}" height="${HEIGHT}"/>${parts}</g>`
  }
  const rows = intervals
    .filter((_, at) => totals[at]! > 0)
    .map(({ at, values }) => [formatMoment(at, language), ...values])
  return html`<figure class="chart">
<div class="plot"><div class="axis" aria-hidden="true">${[top, top / 2, 0].map((value) => html`<span>${count(value)}</span>`)}</div>
<svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}; ${w.highest(Math.max(...totals))}, ${last}">
<path class="grid" d="M0 0H${width}M0 50H${width}M0 100H${width}"/>
${intervals.map(bar)}
</svg></div>
<figcaption><span>${formatMoment(intervals[0]!.at, language)}</span> <span class="key">${series.map(({ name, tone }) => html`<span class="${tone}">${name}</span> `)}</span> <strong>${last}</strong></figcaption>
${rows.length > 0 && html`<details><summary>${w.values}</summary>${table(label, [w.beginning, ...series.map(({ name }) => name)], rows)}</details>`}
</figure>`
}
