import { expect, it } from 'vitest'
import type { VerifyRecord } from '../../verify/record.ts'
import { fileOf, recordOf } from '../../verify/record.ts'

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
  const record = recordOf(circumstances, [
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

it('a record keeps the parts of an earlier one of the same file that did not run again', () => {
  const passed = { outcome: 'passed', seconds: 1 } as const
  const earlier: VerifyRecord = { ...circumstances, parts: { rows: passed, soak: passed } }
  const again = { name: 'soak', outcome: 'failed', runs: 1, seconds: 2, figures: [] } as const
  expect(recordOf(circumstances, [{ ...again, figures: [] }], earlier).parts).toEqual({
    rows: passed,
    soak: { outcome: 'failed', seconds: 2 },
  })
})

it('the file of a record has its day and commit, and says when files differed from the commit', () => {
  expect(fileOf(circumstances)).toBe('2026-11-24-abc1234.json')
  expect(fileOf({ ...circumstances, changed: true })).toBe('2026-11-24-abc1234-changed.json')
})
