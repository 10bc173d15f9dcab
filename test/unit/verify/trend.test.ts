import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { VerifyRecord } from '../../verify/record.ts'
import { trendOf } from '../../verify/trend.ts'

const recordOn = (day: number, figures: Record<string, number> | undefined): VerifyRecord => ({
  commit: `commit${day}`,
  at: `2026-11-${day}T01:00:00.000Z`,
  load: [0, 0],
  machine: { cpu: 'CPU', cores: 2, memoryGb: 8, system: 'Linux 6', node: '24.21.0' },
  parts: figures ? { performance: { outcome: 'passed', seconds: 9, figures } } : {},
})

it('the trend has a panel for each operation of the newest record, scaled from 0, with a gap where a record lacks it', () => {
  const svg = trendOf([
    recordOn(14, { 'get, service': 1, 'get, Koa + tRPC': 9, 'trpc-get, tRPC': 1.25 }),
    recordOn(12, { 'get, service': 2 }),
    recordOn(13, undefined),
  ])
  expect(svg).toContain('commits commit12, commit14<')
  expect(svg).toContain('>get 1.00<')
  expect(svg).toContain('<polyline points="19,82 37,101"/>')
  expect(svg).toContain('>trpc-get 1.25<')
  expect(svg).toContain('<polyline points="227,82"/>')
  expect(svg).not.toContain('Koa')
})

it('the trend shows the last ten records', () => {
  const svg = trendOf(Array.from({ length: 12 }, (_, i) => recordOn(10 + i, { 'get, service': 1 })))
  expect(svg).not.toContain('commit11')
  expect(svg.match(/<circle/g)).toHaveLength(10)
})

it('docs/images/performance-trend.svg is drawn from the records', () => {
  const docs = fileURLToPath(new URL('../../../docs/', import.meta.url))
  const files = readdirSync(`${docs}records`).filter((name) => name.endsWith('.json'))
  const records = files.map((name): VerifyRecord => JSON.parse(readFileSync(`${docs}records/${name}`, 'utf8')))
  expect(readFileSync(`${docs}images/performance-trend.svg`, 'utf8')).toBe(trendOf(records))
})
