export interface Group {
  name: string
  bars: readonly { name: string; value: number }[]
}

const [WIDTH, LEFT, RIGHT, TOP, BAR, GAP] = [760, 110, 210, 56, 16, 14] as const

/** Horizontal bars in groups, as an SVG. Each bar is labelled, so that nobody has to distinguish colours. */
export function barPlot({ title, unit, groups }: { title: string; unit: string; groups: readonly Group[] }): string {
  const names = [...new Set(groups.flatMap(({ bars }) => bars.map(({ name }) => name)))]
  const most = Math.max(...groups.flatMap(({ bars }) => bars.map(({ value }) => value)))
  const scale = (WIDTH - LEFT - RIGHT) / most
  let y = TOP
  const parts = groups.map(({ name, bars }) => {
    const top = y
    const drawn = bars.map((bar) => {
      const width = round(bar.value * scale)
      const at = y
      y += BAR
      const label = `${bar.value.toFixed(0)} ${escaped(bar.name)}`
      return [
        `<rect class="s${names.indexOf(bar.name)}" x="${LEFT}" y="${at + 1}" width="${width}" height="${BAR - 2}"/>`,
        `<text x="${round(LEFT + width + 6)}" y="${at + 12}">${label}</text>`,
      ].join('')
    })
    y += GAP
    const middle = top + (bars.length * BAR) / 2 + 4
    return `<text class="name" x="${LEFT - 10}" y="${middle}">${escaped(name)}</text>\n${drawn.join('\n')}`
  })
  const described = groups.map(
    ({ name, bars }) => `${name}: ${bars.map((bar) => `${bar.name} ${bar.value.toFixed(0)}`).join(', ')}`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-labelledby="title description">
<title id="title">${escaped(title)}</title>
<desc id="description">${escaped(`${unit}. ${described.join('; ')}.`)}</desc>
<style>
text { font: 12px system-ui, sans-serif; fill: #1f2328 }
.heading { font-size: 15px; font-weight: 600 }
.name { text-anchor: end; font-weight: 600 }
.s0 { fill: #8c959f } .s1 { fill: #0969da } .s2 { fill: #1a7f37 } .s3 { fill: #bc4c00 } .s4 { fill: #8250df }
line { stroke: #8c959f }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 }
  .s0 { fill: #7d8590 } .s1 { fill: #4493f8 } .s2 { fill: #3fb950 } .s3 { fill: #db6d28 } .s4 { fill: #ab7df8 }
}
</style>
<text class="heading" x="10" y="22">${escaped(title)}</text>
<text x="10" y="42">${escaped(unit)}</text>
<line x1="${LEFT}" y1="${TOP - 4}" x2="${LEFT}" y2="${y - GAP + 4}"/>
${parts.join('\n')}
</svg>
`
}

const round = (number: number) => Math.round(number * 10) / 10
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
