import { html } from '../../browser/pages/html.ts'
import type { PageRequest } from '../page-request.ts'
import { formatMoment } from './formats.ts'

export interface Counts {
  /** The beginning of the period, in Unix seconds. */
  at: number
  ok: number
  refused: number
  limited: number
}

const [HEIGHT, BAR, GAP] = [100, 10, 2]

/** Bars of requests over time. The table below has the figures, so the chart is an image with only a name. */
export function chart({ w, language }: PageRequest, bars: readonly Counts[]) {
  const most = Math.max(1, ...bars.map(({ ok, refused, limited }) => ok + refused + limited))
  const width = bars.length * (BAR + GAP)
  const scaled = (count: number) => Math.round((count / most) * HEIGHT * 100) / 100
  const part = (style: string, at: number, from: number, count: number) =>
    count > 0 &&
    html`<rect class="${style}" x="${at * (BAR + GAP)}" y="${HEIGHT - scaled(from + count)}" width="${BAR}" height="${scaled(count)}"/>`
  return html`<figure class="chart">
<svg viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${w.chart}">
${bars.map(
  ({ ok, refused, limited }, at) =>
    html`${part('ok', at, 0, ok)}${part('refused', at, ok, refused)}${part('limited', at, ok + refused, limited)}`,
)}
</svg>
<figcaption><span>${formatMoment(bars[0]!.at, language)}</span> <span class="key"><span class="ok">${w.requestsOk}</span> <span class="refused">${w.requestsRefused}</span> <span class="limited">${w.requestsLimited}</span></span> <span>${w.most(most)}</span></figcaption>
</figure>`
}
