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
  it('describes the records as routers/directory/record-types.ts has them', () => {
    expect(partOf('records').trim()).toBe(recordsPart())
  })

  it('names the owner of each table once', () => {
    const rows = table<'Owner' | 'Tables'>(partOf('owners'))
    const owned = new Map(rows.map(({ Owner, Tables }) => [Owner, Tables.split(', ')]))
    expect([...owned.keys()]).toEqual(['the platform', 'operators', 'this service'])
    expect([...owned.values()].flat().toSorted()).toEqual([...cascades().keys()].toSorted())
    expect(new Set(owned.get('the platform'))).toEqual(platformTables())
  })
})
