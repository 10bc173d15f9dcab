import { describe, expect, it } from 'vitest'
import { cascades, page, platformTables, recordsPart } from '../support/directory-page.ts'
import { table } from '../support/markdown-table.ts'

/** The text between the comments of this name. */
const partOf = (name: string) => {
  const [, part] = page().match(new RegExp(`<!-- ${name}: .*? -->\n+([\\s\\S]*?)\n+<!-- /${name} -->`)) ?? []
  if (part === undefined) throw new Error(`docs/directory.md has no part ${name}.`)
  return part
}

describe('docs/directory.md', () => {
  it('describes the records as routers/directory/kinds.ts has them', () => {
    expect(partOf('records').trim()).toBe(recordsPart())
  })

  it('names the owner of each table, and what its rows are deleted with', () => {
    const rows = table<'Table' | 'Owner' | 'Its rows are deleted with those of'>(partOf('owners'))
    const written = rows.map((row) => [row.Table, row['Its rows are deleted with those of']])
    expect(written).toEqual([...cascades()].map(([model, parents]) => [model, parents.join(', ')]))
    expect(new Set(rows.map(({ Owner }) => Owner))).toEqual(new Set(['the platform', 'operators', 'this service']))
    const ofPlatform = rows.filter(({ Owner }) => Owner === 'the platform').map(({ Table }) => Table)
    expect(new Set(ofPlatform)).toEqual(platformTables())
  })
})
