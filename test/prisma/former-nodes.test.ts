import type pg from 'pg'
import type { Connection, FieldDef, Submittable } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { migrate } from '../../prisma/migrate.ts'
import { direct } from '../support/addresses.ts'
import { query } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'
import { formerDatabase, formerStatements } from './former/database.ts'

let before: string
let upgraded: string
let node: pg.Client
beforeAll(async () => {
  before = await formerDatabase('6ea6af0f', afterAll)
  upgraded = await formerDatabase('6ea6af0f', afterAll)
  node = pgClient(direct(upgraded))
  await node.connect()
  afterAll(() => node.end())
})

const WRITE = `'c', 'k', '"v"', gen_random_uuid(), to_timestamp(1795000000), 1000000, null, null`
const BATCH = `'{put,get,delete}', '{"","",""}', '{b,b,notes}', '{k,k,exact}', '{1,NULL,NULL}', '{NULL,NULL,NULL}', '{NULL,NULL,NULL}',
  to_timestamp(1795000000), 1000000, 1000000`

/** Each function that a node of 6ea6af0f calls, as it does, and what comes of it. */
const calls: [string, string, unknown][] = [
  ['storage_write', `SELECT outcome FROM storage_write('hobby-app', 'riverside', '', ${WRITE}, null)`, ['stored']],
  [
    'storage_write_ruled of the author',
    `SELECT outcome FROM storage_write_ruled('hobby-app', 'riverside', '', 'ruled', 'own', '1', gen_random_uuid(), now(), 1000000, null, null, 'anna')`,
    ['stored'],
  ],
  [
    'storage_write_ruled of another member',
    `SELECT outcome FROM storage_write_ruled('hobby-app', 'riverside', '', 'ruled', 'own', '1', gen_random_uuid(), now(), 1000000, null, null, 'ben')`,
    ['refused'],
  ],
  [
    'storage_delete',
    `SELECT outcome FROM storage_delete('hobby-app', 'riverside', '', 'c', 'k', '{*}', null)
     UNION ALL SELECT outcome FROM storage_delete('hobby-app', 'riverside', '', 'c', 'k', null, null)`,
    ['deleted', 'absent'],
  ],
  [
    'storage_delete_ruled of another member',
    `SELECT outcome FROM storage_delete_ruled('hobby-app', 'riverside', '', 'ruled', 'own', null, null, 'ben')`,
    ['refused'],
  ],
  [
    'storage_batch',
    `SELECT outcome FROM storage_batch('hobby-app', 'riverside', 'anna', ${BATCH})`,
    ['stored', 'found', 'deleted'],
  ],
  [
    'storage_batch_ruled',
    `SELECT outcome FROM storage_batch_ruled('trainer-app', 'riverside', 'anna', ${BATCH.replace('notes,', 'none,')})`,
    ['stored', 'found', 'absent'],
  ],
  ['storage_meets', `SELECT storage_meets('v', '{v}', '{w}')`, [true]],
  [
    'consent_storage_scopes',
    `SELECT consent_storage_scopes('{svc.me.profile:read}', 'hobby-app', 'riverside', now(), now() - interval '1 year')`,
    [[]],
  ],
  ['event_number', `SELECT event_number('hobby-app', 201)::int`, [2]],
  [
    'quiz_submit',
    `SELECT outcome FROM quiz_submit('hobby-app', 'anna', 'academy', 'choice-quiz', 'new key', 'hash', '{}', now() - interval '1 day',
       'new result', 50, false, 'failed', 3, 60, now(), '{q1}', '{"[]"}', '{false}', null, null)`,
    ['stored'],
  ],
  ['storage_forget_members', `SELECT storage_forget_members('riverside', ARRAY['ben'])::text`, ['']],
]

describe('beside an upgrade, a node of 6ea6af0f', () => {
  it('calls what it has called before, on a connection of then, while and after the database is upgraded', async () => {
    const call = (sql: string) => node.query({ name: sql.slice(0, 60), text: sql, rowMode: 'array' })
    const put = `SELECT outcome FROM storage_write('hobby-app', 'riverside', '', ${WRITE}, null)`
    expect((await call(put)).rows).toEqual([['stored']])
    let isUpgraded = false
    const upgrade = migrate(upgraded).finally(() => {
      isUpgraded = true
    })
    while (!isUpgraded) expect((await call(put)).rows).toEqual([['stored']])
    await upgrade
    expect((await call(put)).rows).toEqual([['stored']])
  })

  it.each(calls)('gets from %s what it expects', async (_, sql, outcomes) => {
    const { rows } = await node.query({ text: sql, rowMode: 'array' })
    expect(rows.flat(1)).toEqual(outcomes)
  })

  it('prepares each of its statements, which return the columns that it declares', async () => {
    const statements = await formerStatements()
    expect(statements.length).toBeGreaterThan(200)
    for (const { name, text, columns } of statements) {
      const fields = await describeResult(text).catch((error: Error) => [{ name: error.message }])
      expect([name, fields.map((field) => field.name)]).toEqual([name, columns])
    }
  })

  it('finds each of its columns, and may leave out those that are new', async () => {
    const columns = `SELECT relname || '.' || attname AS name, format_type(atttypid, atttypmod) AS type, attnotnull AS required,
        atthasdef AS defaulted
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
      WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 ORDER BY 1`
    const tables = await query(
      before,
      `SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
    )
    const known = new Set(tables.map(({ relname }) => relname))
    const [former, now] = [await query(before, columns), await query(upgraded, columns)]
    // It joins each mail with its team, and so leaves those about the request for one to nodes of this release.
    former.find(({ name }) => name === 'Mail.teamId').required = false
    // It reads the provider of apps that teams or providers ask for: the app of a document's host is none of theirs.
    former.find(({ name }) => name === 'App.providerId').required = false
    expect(now).toEqual(expect.arrayContaining(former))
    const added = now.filter(
      ({ name }) => known.has(name.split('.')[0]) && !former.some((column) => column.name === name),
    )
    expect(added.length).toBeGreaterThan(0)
    expect(added.filter(({ required, defaulted }) => required && !defaulted)).toEqual([])
  })
})

/** The columns of a statement's result, by the server's own description; the statement is not run. */
function describeResult(text: string): Promise<{ name: string }[]> {
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
    node.query(description)
  })
}
