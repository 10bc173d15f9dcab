import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { pageOf } from '../../verify/page.ts'
import type { PartRecord, VerifyRecord } from '../../verify/record.ts'

const machine = { cpu: 'CPU', cores: 2, memoryGb: 8, system: 'Linux 6', node: '24.21.0' }
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
  const page = pageOf([
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
  const page = pageOf([recordOn(12, { figures: measured(0.5) }), recordOn(13, { figures: measured(now, outcome) })])
  expect(page).toContain('\n\nNothing.\n')
  expect(page).not.toContain('**')
})

it('the page of records shows the last ten', () => {
  const page = pageOf(
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
  expect(readFileSync(`${directory}README.md`, 'utf8')).toBe(pageOf(records))
})
