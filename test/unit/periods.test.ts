import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { housekeepingTasks } from '../../server/process/housekeeping.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { table } from '../support/markdown-table.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')
const [text] = /^\| Table \| Kept for \| Task \|\n(?:\|.*\n)+/m.exec(read('docs/operations.md'))!
const rows = table<'Table' | 'Kept for' | 'Task'>(text)

describe('the periods in docs/operations.md', () => {
  it('name every table once', () => {
    const models = [...read('prisma/schema.prisma').matchAll(/^model (\w+) \{$/gm)].map(([, name]) => name!)
    expect(models.length).toBeGreaterThan(30)
    expect(rows.flatMap((row) => row.Table.split(', ')).toSorted()).toEqual(models.toSorted())
  })

  it('are the reason why the rows are kept, or else have the task that removes them', () => {
    for (const row of rows) {
      const isKept = /^kept: \w/.test(row['Kept for'])
      expect([row.Table, row.Task !== '']).toEqual([row.Table, !isKept])
    }
    const tasks = housekeepingTasks({ keepDays: { events: 1, consents: 1 } }, createCipher([Buffer.alloc(32)]))
    expect(rows.map((row) => row.Task).filter(Boolean)).toEqual(tasks.map(({ name }) => name))
  })
})
