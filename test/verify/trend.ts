import type { VerifyRecord } from './record.ts'
import { SHOWN, selectLast } from './record.ts'

const [COLUMNS, WIDTH, HEIGHT, TOP, GAP] = [4, 180, 56, 64, 34] as const

/** docs/images/performance-trend.svg: the cost of each operation in the part `performance`, over the last ten records. */
export function renderTrend(all: readonly VerifyRecord[]): string {
  const records = selectLast(all.filter(({ parts }) => parts.performance?.figures))
  const figures = records.map(({ parts }) => parts.performance!.figures!)
  // The figures of the newest: of peers, only the present ratio is of interest, and it is in the tables.
  const names = Object.keys(figures.at(-1) ?? {}).filter((name) => /, (?:service|tRPC)$/.test(name))
  const series = names.map((name) => ({ name: name.replace(/, .*/, ''), values: figures.map((of) => of[name]) }))
  const panels = series.map(({ name, values }, i) => {
    const x = 10 + (i % COLUMNS) * (WIDTH + 10)
    const y = TOP + Math.floor(i / COLUMNS) * (HEIGHT + GAP)
    return renderPanel(`${name} ${values.at(-1)!.toFixed(2)}`, values, x, y)
  })
  const height = TOP + Math.ceil(series.length / COLUMNS) * (HEIGHT + GAP)
  const commits = records.map(({ commit }) => commit).join(', ') || 'none'
  const described = series.map(({ name, values }) => `${name}: ${values.map((value) => value ?? '–').join(', ')}`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${10 + COLUMNS * (WIDTH + 10)} ${height}" role="img" aria-labelledby="title description">
<title id="title">CPU time of a request over the last records</title>
<desc id="description">Ratios to the server compared with. Commits: ${commits}. ${described.join('; ')}.</desc>
<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.heading { font-size: 15px; font-weight: 600 }
line { stroke: #8c959f }
polyline { fill: none; stroke: #0969da; stroke-width: 1.5 }
circle { fill: #0969da }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  polyline { stroke: #4493f8 }
  circle { fill: #4493f8 }
}
</style>
<text class="heading" x="10" y="22">CPU time of a request over the last records</text>
<text x="10" y="42">Ratio to the server compared with, from 0; commits ${commits}</text>
${panels.join('\n')}
</svg>
`
}

/** A record that lacks the figure leaves a gap. */
function renderPanel(label: string, values: readonly (number | undefined)[], x: number, y: number): string {
  const most = Math.max(...values.map((value = 0) => value))
  const bottom = y + HEIGHT
  const points = values.flatMap((value, i) =>
    value === undefined
      ? []
      : [{ x: round(x + ((i + 0.5) * WIDTH) / SHOWN), y: round(bottom - (value / most) * (HEIGHT - 18)) }],
  )
  return [
    `<text x="${x}" y="${y + 12}">${label}</text>`,
    `<line x1="${x}" y1="${bottom}" x2="${x + WIDTH}" y2="${bottom}"/>`,
    `<polyline points="${points.map((point) => `${point.x},${point.y}`).join(' ')}"/>`,
    ...points.map((point) => `<circle cx="${point.x}" cy="${point.y}" r="2"/>`),
  ].join('')
}

const round = (number: number) => Math.round(number * 10) / 10
