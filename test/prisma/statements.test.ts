import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import type { Connection, FieldDef, Submittable } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Fitting, Statement } from '../../prisma/pg/statement.ts'
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
const statements = [...declaredStatements.values()].filter(({ name }) => !name.startsWith('suite_'))

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
    expect(await findMismatches(one)).toEqual([])
  })
})

describe('a decoder', () => {
  const sum = statement('suite_sum', 'SELECT 1 AS sum, NULL AS note', {}, { sum: int, note: nullable(text) })

  it('returns an object with the declared names', () => {
    expect(sum.decode(['9007199254740991', null])).toEqual({ sum: Number.MAX_SAFE_INTEGER, note: null })
  })

  it('throws on null where the column is not nullable', () => {
    expect(() => sum.decode([null, null])).toThrow('Column sum of statement suite_sum is null.')
  })

  it('throws on an integer that a number cannot hold', () => {
    expect(() => sum.decode(['9007199254740992', null])).toThrow('9007199254740992 is not a safe integer.')
  })

  it('throws on a label that was not declared', () => {
    expect(() => oneOf('stored', 'full').parse('changed')).toThrow('changed is none of stored,full.')
  })
})

it('a name stands for one statement', () => {
  statement('suite_twice', 'SELECT 1', {}, {})
  expect(() => statement('suite_twice', 'SELECT 2', {}, {})).toThrow('Two statements are named suite_twice.')
})

async function findMismatches({ text, parameters, columns }: Statement): Promise<string[]> {
  const described = await describeStatement(text)
  return [
    ...mismatches('column', Object.entries(columns), described.columns),
    // A parameter has the name that it is declared with.
    ...mismatches(
      'parameter',
      Object.entries(parameters),
      described.parameters.map((oid, i) => ({ name: Object.keys(parameters)[i]!, oid })),
    ),
  ]
}

function mismatches(
  kind: string,
  declared: readonly (readonly [string, Fitting])[],
  described: readonly { name: string; oid: number }[],
): string[] {
  if (described.length !== declared.length) return [`${described.length} ${kind}s, ${declared.length} declared`]
  return declared.flatMap(([name, type], i) => {
    const { name: found, oid } = described[i]!
    if (found !== name) return [`${kind} ${i + 1} is ${found}, not ${name}`]
    return fits(type, oid) ? [] : [`${kind} ${name} has the type ${oid}`]
  })
}

function fits({ oids, labels }: Fitting, oid: number): boolean {
  const enumLabels = labels && enums.get(oid)
  return enumLabels ? enumLabels.toSorted().join() === labels.toSorted().join() : oids.includes(oid)
}

/** A statement's parameters and the columns of its result, by the server's own description; the statement is not run. */
function describeStatement(text: string) {
  const { connection } = client as unknown as { connection: Connection }
  let parameters: number[] = []
  connection.once('parameterDescription', ({ dataTypeIDs }: { dataTypeIDs: number[] }) => {
    parameters = dataTypeIDs
  })
  return new Promise<{ parameters: number[]; columns: { name: string; oid: number }[] }>((resolve, reject) => {
    let columns: { name: string; oid: number }[] = []
    const description = {
      submit(connection: Connection) {
        connection.parse({ name: '', text, types: [] }, true)
        connection.describe({ type: 'S' }, true)
        connection.sync()
      },
      handleRowDescription: ({ fields }: { fields: FieldDef[] }) => {
        columns = fields.map(({ name, dataTypeID }) => ({ name, oid: dataTypeID }))
      },
      handleReadyForQuery: () => resolve({ parameters, columns }),
      handleError: reject,
    } satisfies Submittable & Record<string, unknown>
    client.query(description)
  })
}
