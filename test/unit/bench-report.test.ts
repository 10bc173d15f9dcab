import { describe, expect, it } from 'vitest'
import { memoryRows } from '../../bench/memory-rows.ts'
import { renderPage } from '../../bench/report/page.ts'
import { barPlot } from '../../bench/report/plot.ts'
import { markdownTable, textTable } from '../../bench/text-table.ts'

const server = (name: string, cpu: number) => ({
  name,
  rounds: [{ cpu, perSecond: 1, p50: 1, p99: 1 }],
  allocated: 0,
  rss: 0,
})
const row = (name: string, target: number, ...cpu: number[]) => ({
  name,
  target,
  servers: ['bare', 'service', 'Fastify + Prisma'].slice(0, cpu.length).map((one, i) => server(one, cpu[i]!)),
})
const report = {
  ...{ machine: 'A machine.', date: '2026-01-02', rounds: 5, requests: 10, connections: 32, seconds: 3 },
  ...{ growth: [], memory: [], tails: [] },
}

describe('a table', () => {
  it('has text to the left and figures to the right, for a terminal and in Markdown', () => {
    const rows = [
      ['get', '7'],
      ['put', '12'],
    ]
    expect(textTable(['name', 'µs'], rows)).toBe('name  µs\nget    7\nput   12')
    expect(markdownTable(['name', 'µs'], rows)).toBe('| name | µs |\n| --- | --: |\n| get | 7 |\n| put | 12 |')
  })
})

describe('the page', () => {
  it('names what is beyond its target, and where the peer takes less', () => {
    const within = { rest: [row('get', 2, 10, 19, 30)], trpc: [row('trpc-get', 1.3, 10, 12)] }
    expect(renderPage({ ...report, ...within })).toContain(
      'All 2 operations with a target are within it. For each that Fastify with Prisma has, the service takes less CPU time.',
    )
    const beyond = { rest: [row('get', 2, 10, 40, 30)], trpc: [row('trpc-get', 1.3, 10, 12)] }
    expect(renderPage({ ...report, ...beyond })).toContain(
      '1 of 2 operations with a target are within it; beyond: get. The service takes more CPU time than Fastify with Prisma for get.',
    )
  })
})

it('the memory of starts is the median, with its spread and what is beyond its target', () => {
  const start = (seconds: number, rest: number, after: number) => ({
    seconds,
    rest: rest * 2 ** 20,
    after: after * 2 ** 20,
  })
  const rows = memoryRows([start(0.5, 90, 150), start(0.7, 85, 250), start(0.6, 119.6, 201)], 100_000)
  expect(rows).toEqual([
    ['CPU until it listens, s', '0.60', '0.50 – 0.70', '0.9'],
    ['memory after 10 s at rest, MB', '90', '85 – 120', '120'],
    ['memory after 100,000 requests, MB', '201', '150 – 250', '200 missed'],
  ])
})

describe('the plot', () => {
  it('says every value in its text and in its description, with widths in proportion', () => {
    const bars = [
      { name: 'bare', value: 50 },
      { name: 'a & b', value: 200 },
    ]
    const svg = barPlot({ title: 'Cost', unit: 'µs', groups: [{ name: 'get', bars }] })
    expect(svg).toContain('<desc id="description">µs. get: bare 50, a &amp; b 200.</desc>')
    expect(svg).toContain('>50 bare</text>')
    expect(svg).toContain('>200 a &amp; b</text>')
    const [least, most] = [...svg.matchAll(/<rect [^>]* width="([\d.]+)"/g)].map(([, width]) => Number(width))
    expect(most! / least!).toBeCloseTo(4, 1)
  })
})
