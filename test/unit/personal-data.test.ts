import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { notErased, notExported } from '../../routers/personal-data/exclusions.ts'
import { typedTexts } from '../../routers/personal-data/mentions.ts'
import { lists, profile } from '../../routers/personal-data/sections.ts'
import { cascades } from '../support/directory-page.ts'

const root = join(import.meta.dirname, '../..')
const schema = readFileSync(join(root, 'prisma/schema.prisma'), 'utf8')

interface Model {
  name: string
  /** The stored columns: without relations. */
  columns: string[]
  /** Names a person, by a foreign key or by the kind of name that such columns have. */
  hasPerson: boolean
}

const names = [...schema.matchAll(/^model (\w+) \{$/gm)].map(([, name]) => name!)
const models: Model[] = [...schema.matchAll(/^model (\w+) \{$([\s\S]*?)^\}$/gm)].map(([, name, body]) => {
  const fields = [...body!.matchAll(/^ {2}(\w+) +(\w+)/gm)].map(([, field, type]) => ({ field: field!, type: type! }))
  const columns = fields.filter(({ type }) => !names.includes(type)).map(({ field }) => field)
  const hasPerson =
    fields.some(({ type }) => type === 'Person') ||
    columns.some((column) => /^(person|member|invited|email)/i.test(column))
  return { name: name!, columns, hasPerson }
})

/** The SQL of the lists that read a table. */
const findSql = (table: string) =>
  [profile, ...Object.values(lists)].filter((sql) => sql.includes(`"${table}"`)).join('\n')

/** The tables, and the columns of tables with a person, that no list has. A `version` counts what the platform has sent. */
const unexported = models.flatMap(({ name, columns, hasPerson }) => {
  const sql = findSql(name)
  if (sql === '') return [name]
  if (name !== 'Person' && !hasPerson) return []
  const unread = columns.filter((column) => column !== 'version' && !new RegExp(`\\b${column}\\b`).test(sql))
  return unread.map((column) => `${name}.${column}`)
})

const folder = join(root, 'routers/personal-data')
const sources = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'))
const written = [...sources.join('\n').matchAll(/(DELETE FROM|UPDATE) "(\w+)"/g)].map(([, verb, table]) => ({
  verb,
  table: table!,
}))

/** The tables whose rows go with those of the tables given, and these. */
function withDependents(tables: readonly string[]): Set<string> {
  const found = new Set(tables)
  for (const [table, parents] of [...cascades(), ...cascades()]) {
    if (parents.some((parent) => found.has(parent))) found.add(table)
  }
  return found
}

describe('each table of the schema', () => {
  it('is in the export of a person with all its columns, or in notExported with a reason', () => {
    expect(unexported.toSorted()).toEqual(Object.keys(notExported).toSorted())
  })

  it('is removed or changed by an erasure, or in notErased with a reason', () => {
    const removed = withDependents(written.filter(({ verb }) => verb === 'DELETE FROM').map(({ table }) => table))
    const touched = new Set([...removed, ...written.map(({ table }) => table), ...Object.keys(typedTexts)])
    expect(names.filter((name) => !touched.has(name)).toSorted()).toEqual(Object.keys(notErased).toSorted())
  })

  it('has a reason that says something', () => {
    expect(models.length).toBeGreaterThan(40)
    for (const reason of Object.values({ ...notExported, ...notErased })) expect(reason).toMatch(/\w+ \w+ \w+/)
  })
})
