import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { renderPage } from '../../verify/page.ts'
import type { PartRecord, VerifyRecord } from '../../verify/record.ts'
import { toFileName, toRecord } from '../../verify/record.ts'
import { renderTrend } from '../../verify/trend.ts'

const machine = { cpu: 'CPU', cores: 2, memoryGb: 8, system: 'Linux 6', node: '24.21.0' }
const circumstances = {
  commit: 'abc1234',
  at: '2026-11-24T01:02:03.000Z',
  machine,
  load: [0.1, 1.9] as [number, number],
}

it('a record has figures as shares of their bounds, and only what says something', () => {
  const figures = [
    { name: 'get', value: 1.5, unit: '×', bound: 1.875 },
    { name: 'peak', value: 123.456, unit: 'MB', bound: 512 },
    { name: 'get, Fastify', value: 2.3456, unit: '×' },
  ]
  const record = toRecord(circumstances, [
    { name: 'openapi', outcome: 'passed', runs: 1, seconds: 41.6, figures: [] },
    { name: 'figures', outcome: 'not judged', why: 'the machine was not quiet', runs: 3, seconds: 300, figures },
    { name: 'kills', outcome: 'flaky', why: '1 failed: kills', runs: 2, seconds: 60.2, seed: 7, figures: [] },
  ])
  expect(record).toEqual({
    ...circumstances,
    parts: {
      openapi: { outcome: 'passed', seconds: 42 },
      figures: {
        outcome: 'not judged',
        why: 'the machine was not quiet',
        seconds: 300,
        runs: 3,
        figures: { get: 0.8, peak: 0.241, 'get, Fastify': 2.35 },
      },
      kills: { outcome: 'flaky', why: '1 failed: kills', seconds: 60, runs: 2, seed: 7 },
    },
  })
})

it('a record keeps the day of an earlier one of its commit, and the parts that did not run again', () => {
  const passed = { outcome: 'passed', seconds: 1 } as const
  const earlier: VerifyRecord = { ...circumstances, parts: { rows: passed, soak: passed } }
  const again = { name: 'soak', outcome: 'failed', runs: 1, seconds: 2, figures: [] } as const
  const nextDay = { ...circumstances, at: '2026-11-25T01:02:03.000Z' }
  expect(toRecord(nextDay, [{ ...again, figures: [] }], earlier)).toEqual({
    ...circumstances,
    parts: { rows: passed, soak: { outcome: 'failed', seconds: 2 } },
  })
})

it('the file of a record has its day and commit, and says when files differed from the commit', () => {
  expect(toFileName(circumstances)).toBe('2026-11-24-abc1234.json')
  expect(toFileName({ ...circumstances, changed: true })).toBe('2026-11-24-abc1234-changed.json')
})

const recordOn = (day: number, parts: Record<string, PartRecord>, more: Partial<VerifyRecord> = {}): VerifyRecord => ({
  commit: `commit${day}`,
  at: `2026-11-${day}T01:00:00.000Z`,
  machine,
  load: [0.1, 1.9],
  parts,
  ...more,
})
const measured = (get: number, outcome: PartRecord['outcome'] = 'passed'): PartRecord => ({
  outcome,
  seconds: 9,
  figures: { get },
})

it('the page of records marks what got worse by more than 15 % of the median on a machine of the same kind', () => {
  const page = renderPage([
    recordOn(12, { figures: measured(0.5) }),
    recordOn(13, { figures: measured(0.9, 'not judged') }),
    recordOn(14, { figures: measured(0.25) }, { machine: { ...machine, cpu: 'another' } }),
    recordOn(15, { figures: measured(0.62) }, { changed: true }),
    recordOn(16, { figures: measured(0.72), kills: { outcome: 'flaky', why: '1 failed', seconds: 60, seed: 7 } }),
  ])
  expect(page).toContain('| figures | get | 0.50 | (0.90) | 0.25 | 0.62 | **0.72, 16 %** |')
  expect(page).toContain('| 2026-11-15 commit15* |')
  expect(page).toContain('- figures, get: 16 %')
  expect(page).toContain('- kills: flaky, 1 failed, seed 7')
})

it.each([
  ['15 %', 0.575, 'passed'],
  ['more, but not judged', 0.9, 'not judged'],
] as const)('the page of records calls nothing worse that grew by %s', (_, now, outcome) => {
  const page = renderPage([recordOn(12, { figures: measured(0.5) }), recordOn(13, { figures: measured(now, outcome) })])
  expect(page).toContain('\n\nNothing.\n')
  expect(page).not.toContain('**')
})

it('the page of records shows the last ten', () => {
  const page = renderPage(
    Array.from({ length: 12 }, (_, i) => recordOn(10 + i, { openapi: { outcome: 'passed', seconds: 1 } })),
  )
  expect(page).not.toContain('commit11')
  expect(page).toContain('| Part | 2026-11-12 commit12 |')
  expect(page).not.toContain('## Figures')
})

it('docs/records/README.md is written from the records beside it', () => {
  const directory = fileURLToPath(new URL('../../../docs/records/', import.meta.url))
  const files = readdirSync(directory).filter((name) => name.endsWith('.json'))
  const records = files.map((name): VerifyRecord => JSON.parse(readFileSync(directory + name, 'utf8')))
  expect(readFileSync(`${directory}README.md`, 'utf8')).toBe(renderPage(records))
})

/** A record that has these figures of the part `performance`. */
const measuredOn = (day: number, figures?: Record<string, number>) =>
  recordOn(day, figures ? { performance: { outcome: 'passed', seconds: 9, figures } } : {})

it('the trend has a panel for each operation of the newest record, scaled from 0, with a gap where a record lacks it', () => {
  const svg = renderTrend([
    measuredOn(14, { 'get, service': 1, 'get, Koa + tRPC': 9, 'trpc-get, tRPC': 1.25 }),
    measuredOn(12, { 'get, service': 2 }),
    measuredOn(13),
  ])
  expect(svg).toContain('commits commit12, commit14<')
  expect(svg).toContain('>get 1.00<')
  expect(svg).toContain('<polyline points="19,82 37,101"/>')
  expect(svg).toContain('>trpc-get 1.25<')
  expect(svg).toContain('<polyline points="227,82"/>')
  expect(svg).not.toContain('Koa')
})

it('the trend shows the last ten records', () => {
  const svg = renderTrend(Array.from({ length: 12 }, (_, i) => measuredOn(10 + i, { 'get, service': 1 })))
  expect(svg).not.toContain('commit11')
  expect(svg.match(/<circle/g)).toHaveLength(10)
})

it('docs/images/performance-trend.svg is drawn from the records', () => {
  const docs = fileURLToPath(new URL('../../../docs/', import.meta.url))
  const files = readdirSync(`${docs}records`).filter((name) => name.endsWith('.json'))
  const records = files.map((name): VerifyRecord => JSON.parse(readFileSync(`${docs}records/${name}`, 'utf8')))
  expect(readFileSync(`${docs}images/performance-trend.svg`, 'utf8')).toBe(renderTrend(records))
})
