import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { pageOf } from '../../verify/page.ts'
import type { PartRecord, VerifyRecord } from '../../verify/record.ts'

const machine = { cpu: 'CPU', cores: 2, memoryGb: 8, system: 'Linux 6', node: '24.21.0' }
const recordOn = (day: number, parts: Record<string, PartRecord>, more: Partial<VerifyRecord> = {}): VerifyRecord => ({
  ...{ commit: `commit${day}`, at: `2026-11-${day}T01:00:00.000Z`, machine, load: [0.1, 1.9], parts },
  ...more,
})
const measured = (get: number, outcome: PartRecord['outcome'] = 'passed'): PartRecord => ({
  ...{ outcome, seconds: 9, figures: { get } },
})

it('the page of records shows parts and figures beside one another, and what got worse by more than 15 %', () => {
  const records = [
    recordOn(12, { openapi: { outcome: 'passed', seconds: 40 }, figures: measured(0.5) }),
    recordOn(13, { figures: measured(0.9, 'not judged') }),
    recordOn(14, { figures: measured(0.25) }, { machine: { ...machine, cpu: 'another' } }),
    recordOn(15, { figures: measured(0.62) }, { changed: true }),
    recordOn(16, {
      figures: measured(0.72),
      kills: { outcome: 'flaky', why: '1 failed: kill -9', seconds: 60, runs: 2, seed: 7 },
      soak: { outcome: 'failed', why: 'over 10 min', seconds: 600 },
    }),
  ]
  const page = pageOf(records.toReversed())
  expect(page.slice(page.indexOf('## Parts'))).toBe(`## Parts

| Part | 2026-11-12 commit12 | 2026-11-13 commit13 | 2026-11-14 commit14 | 2026-11-15 commit15* | 2026-11-16 commit16 |
|---|---|---|---|---|---|
| openapi | passed | – | – | – | – |
| figures | passed | not judged | passed | passed | passed |
| kills | – | – | – | – | flaky |
| soak | – | – | – | – | **failed** |

\`*\`: with changes that were not committed.

In the newest:

- kills: flaky, 1 failed: kill -9, seed 7
- soak: failed, over 10 min

## Figures

Shares of what each figure is held to, 1 is the limit; of peers, the cost as a multiple of a bare handler. In brackets: not
judged, as the machine was not quiet.

| Part | Figure | 2026-11-12 commit12 | 2026-11-13 commit13 | 2026-11-14 commit14 | 2026-11-15 commit15* | 2026-11-16 commit16 |
|---|---|---|---|---|---|---|
| figures | get | 0.50 | (0.90) | 0.25 | 0.62 | **0.72, 16 %** |

## Worse by more than 15 %

Than the median of the earlier ones on a machine of the same kind.

- figures, get: 16 %

## Circumstances

| Record | Machine | Load before, after |
|---|---|---|
| 2026-11-12 commit12 | CPU, 2 cores, 8 GB, Linux 6, Node 24.21.0 | 0.1, 1.9 |
| 2026-11-13 commit13 | CPU, 2 cores, 8 GB, Linux 6, Node 24.21.0 | 0.1, 1.9 |
| 2026-11-14 commit14 | another, 2 cores, 8 GB, Linux 6, Node 24.21.0 | 0.1, 1.9 |
| 2026-11-15 commit15* | CPU, 2 cores, 8 GB, Linux 6, Node 24.21.0 | 0.1, 1.9 |
| 2026-11-16 commit16 | CPU, 2 cores, 8 GB, Linux 6, Node 24.21.0 | 0.1, 1.9 |
`)
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
