import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { housekeepingTasks } from '../../server/process/housekeeping.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { table } from '../support/markdown-table.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8')
const [text] = /^\| Table \| Kept for \| Task \|\n(?:\|.*\n)+/m.exec(read('docs/housekeeping.md'))!
const rows = table<'Table' | 'Kept for' | 'Task'>(text)

describe('the periods in docs/housekeeping.md', () => {
  it('are those of the tasks, and of tables that exist', () => {
    const tasks = housekeepingTasks(
      { keepDays: { events: 1, consents: 1 }, signingKeyDays: 90 },
      createCipher([Buffer.alloc(32)]),
    )
    expect(rows.map((row) => row.Task)).toEqual(tasks.map(({ name }) => name))
    const models = [...read('prisma/schema.prisma').matchAll(/^model (\w+) \{$/gm)].map(([, name]) => name!)
    expect(models).toEqual(expect.arrayContaining(rows.flatMap((row) => row.Table.split(', '))))
  })
})
