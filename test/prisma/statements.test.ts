import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import type { Connection, FieldDef, Submittable } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Column, Statement } from '../../prisma/pg/statement.ts'
import { declaredStatements, int, nullable, oneOf, statement, text } from '../../prisma/pg/statement.ts'
import { pgClient } from '../support/pg-client.ts'

const root = join(import.meta.dirname, '../..')
const modules = ['prisma', 'routers', 'server']
  .flatMap((layer) =>
    readdirSync(join(root, layer), { recursive: true, encoding: 'utf8' }).map((at) => join(layer, at)),
  )
  .filter((at) => at.endsWith('.ts') && /\/pg\/(?:statement|removal)\.ts'/.test(readFileSync(join(root, at), 'utf8')))
for (const file of modules) await import(join(root, file))
// Other files of this worker declare statements of their own.
const statements = [...declaredStatements.values()].filter(({ name }) => !name.startsWith('test_'))

let client: pg.Client
/** The labels of each enum, by oid. */
const enums = new Map<number, string[]>()

beforeAll(async () => {
  client = pgClient({ connectionString: inject('databaseUrl') })
  await client.connect()
  const { rows } = await client.query<{ oid: number; labels: string[] }>(
    'SELECT enumtypid AS oid, json_agg(enumlabel) AS labels FROM pg_enum GROUP BY enumtypid',
  )
  for (const { oid, labels } of rows) enums.set(oid, labels)
})
afterAll(() => client.end())

describe('the statements of the project', () => {
  it('are declared in the modules that use them', () => {
    expect(modules.length).toBeGreaterThan(10)
    expect(statements.length).toBeGreaterThan(modules.length)
  })

  it.each(statements.map((one) => [one.name, one] as const))('%s fits its description', async (_, one) => {
    expect(await mismatchesOf(one)).toEqual([])
  })
})

describe('a decoder', () => {
  const sum = statement('test_sum', 'SELECT 1 AS sum, NULL AS note', { sum: int, note: nullable(text) })

  it('returns an object with the declared names', () => {
    expect(sum.decode(['9007199254740991', null])).toEqual({ sum: Number.MAX_SAFE_INTEGER, note: null })
  })

  it('throws on null where the column is not nullable', () => {
    expect(() => sum.decode([null, null])).toThrow('Column sum of statement test_sum is null.')
  })

  it('throws on an integer that a number cannot hold', () => {
    expect(() => sum.decode(['9007199254740992', null])).toThrow('9007199254740992 is not a safe integer.')
  })

  it('throws on a label that was not declared', () => {
    expect(() => oneOf('stored', 'full').parse('changed')).toThrow('changed is none of stored,full.')
  })
})

it('a name stands for one statement', () => {
  statement('test_twice', 'SELECT 1', {})
  expect(() => statement('test_twice', 'SELECT 2', {})).toThrow('Two statements are named test_twice.')
})

async function mismatchesOf({ text, columns }: Statement): Promise<string[]> {
  const fields = await describeResult(text)
  const declared = Object.entries(columns)
  if (fields.length !== declared.length) return [`${fields.length} columns, ${declared.length} declared`]
  return declared.flatMap(([name, column], i) => {
    const { name: described, dataTypeID } = fields[i]!
    if (described !== name) return [`column ${i + 1} is ${described}, not ${name}`]
    return fits(column, dataTypeID) ? [] : [`${name} has the type ${dataTypeID}`]
  })
}

function fits({ oids, labels }: Column<unknown>, oid: number): boolean {
  const enumLabels = labels && enums.get(oid)
  return enumLabels ? enumLabels.toSorted().join() === labels.toSorted().join() : oids.includes(oid)
}

/** The columns of a statement's result, by the server's own description; the statement is not run. */
function describeResult(text: string): Promise<FieldDef[]> {
  return new Promise((resolve, reject) => {
    let described: FieldDef[] = []
    const description = {
      submit(connection: Connection) {
        connection.parse({ name: '', text, types: [] }, true)
        connection.describe({ type: 'S' }, true)
        connection.sync()
      },
      handleRowDescription: ({ fields }: { fields: FieldDef[] }) => {
        described = fields
      },
      handleReadyForQuery: () => resolve(described),
      handleError: reject,
    } satisfies Submittable & Record<string, unknown>
    client.query(description)
  })
}
