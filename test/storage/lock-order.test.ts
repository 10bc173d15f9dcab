import type pg from 'pg'
import { beforeEach, describe, expect, inject, it, onTestFinished } from 'vitest'
import { erase } from '../../server/admin/storage-owners.ts'
import { pgClient } from '../support/pg-client.ts'
import type { Tenants } from './tenants.ts'
import { createStorage, mintTenants, openPool, openWith, testCore } from './tenants.ts'

const db = openPool({ deadlock_timeout: '4s' })

let tenants: Tenants
beforeEach(async () => {
  tenants = await mintTenants(db)
  // The higher ids first: read in the order in which they are stored, the usage rows are in the wrong order.
  const { teams, apps, clients, clubs } = tenants
  if (apps[0] < apps[1]) for (const pair of [teams, apps, clients]) pair.reverse()
  if (clubs[0] < clubs[1]) clubs.reverse()
  for (const app of [0, 1]) for (const club of [0, 1]) await usageRow(tenants.apps[app]!, tenants.clubs[club]!)
})

const usageRow = (appId: string, clubId: string) => db.storageUsage.create({ data: { appId, clubId } })

/** A transaction of its own, rolled back with the test. */
async function transaction() {
  const client = pgClient(inject('databaseUrl'))
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('BEGIN')
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  return { client, pid: rows[0]!.pid }
}

type Transaction = Awaited<ReturnType<typeof transaction>>

/** Begins `statement`, which waits for a row that `holder` has locked; it ends when the test does. */
async function blocked(holder: Transaction, statement: (client: pg.Client) => Promise<unknown>) {
  const { client, pid } = await transaction()
  const done = statement(client).catch(() => {})
  onTestFinished(async () => {
    await holder.client.query('ROLLBACK')
    await done
  })
  const waits = 'SELECT $1 = ANY (pg_blocking_pids($2)) AS waits'
  await expect.poll(() => holder.client.query(waits, [holder.pid, pid]).then(({ rows }) => rows[0].waits)).toBe(true)
}

const lock = `SELECT FROM "StorageUsage" WHERE "appId" = $1 AND "clubId" = $2 FOR UPDATE`

/** Whether nobody holds the usage row. */
const isFree = async (app: string, club: string) => {
  const { client } = await transaction()
  return client.query(`${lock} NOWAIT`, [app, club]).then(
    () => true,
    ({ code }) => {
      expect(code).toBe('55P03')
      return false
    },
  )
}

const put = `SELECT outcome FROM storage_write($1, $2, $3, 'c', 'k', '1', gen_random_uuid(), now(), 1000, null, null, null, false)`

/** What a removal locks first. */
const removals: readonly [string, string, (tenants: Tenants) => string[]][] = [
  ['app', `SELECT FROM "App" WHERE id = $1 FOR UPDATE`, ({ apps }) => [apps[1]]],
  ['club', `SELECT FROM "Organisation" WHERE id = $1 FOR UPDATE`, ({ clubs }) => [clubs[1]]],
  [
    'membership',
    `SELECT FROM "Membership" WHERE "organisationId" = $1 AND "personId" = $2 FOR UPDATE`,
    ({ clubs, people }) => [clubs[1], people[1]],
  ],
]

describe('a writer', () => {
  describe.each(removals)('and the %s', (_, sql, values) => {
    it('locks it before the usage row for a new entry', async () => {
      const [app, club, person] = [tenants.apps[1]!, tenants.clubs[1]!, tenants.people[1]!]
      const removal = await transaction()
      await removal.client.query(sql, values(tenants))
      await blocked(removal, (client) => client.query(put, [app, club, person]))
      expect(await isFree(app, club)).toBe(true)
    })

    it('does not lock it for an entry that exists', async () => {
      const address = [tenants.apps[1]!, tenants.clubs[1]!, tenants.people[1]!]
      const writer = await transaction()
      await writer.client.query(put, address)
      await writer.client.query('COMMIT')
      const other = await transaction()
      await other.client.query(sql, values(tenants))
      expect((await writer.client.query(put, address)).rows).toEqual([{ outcome: 'stored' }])
    })
  })

  it('is refused with 503 when others hold the usage row for longer than a statement may take', async () => {
    const holder = await transaction()
    await holder.client.query(lock, [tenants.apps[0], tenants.clubs[0]])
    const hasty = openWith({ statement_timeout: '200ms' })
    onTestFinished(() => hasty.$disconnect())
    const core = { ...testCore(db), db: hasty }
    const write = createStorage(core, tenants, 0, 0, 0).put({ collection: 'c', key: 'k', value: 1 })
    await expect(write).rejects.toMatchObject({ status: 503, publicCode: 'unavailable' })
    await holder.client.query('ROLLBACK')
    expect(await db.storageEntry.count({ where: { appId: tenants.apps[0] } })).toBe(0)
  })
})

/** A member of an app with rules. */
const ruled = {
  put: `SELECT outcome FROM storage_write($1, $2, $3, 'c', 'k', '1', gen_random_uuid(), now(), 1000, null, null, $3, true)`,
  delete: `SELECT outcome FROM storage_delete($1, $2, $3, 'c', 'k', null, null, $3)`,
}

const batch = (
  op: 'put' | 'get',
) => `SELECT outcome FROM storage_batch($1, $2, $3, '{${op}}', ARRAY[$3], '{c}', '{k}', '{1}',
  '{NULL}', '{NULL}', now(), 1000, 1000, false)`

const replacements = [
  ['a put by rules', ruled.put],
  ['a delete by rules', ruled.delete],
  ['a batch', batch('put')],
] as const

describe.each(replacements)('%s', (_what, replacement) => {
  it.each(removals)('locks the %s before the usage row, also where the entry exists', async (_, sql, values) => {
    const address = [tenants.apps[1]!, tenants.clubs[1]!, tenants.people[1]!]
    const writer = await transaction()
    await writer.client.query(put, address)
    await writer.client.query('COMMIT')
    const removal = await transaction()
    await removal.client.query(sql, values(tenants))
    await blocked(removal, (client) => client.query(replacement, address))
    expect(await isFree(tenants.apps[1]!, tenants.clubs[1]!)).toBe(true)
  })
})

describe('a batch', () => {
  it('that only reads waits for a writer, and so reads one state', async () => {
    const address = [tenants.apps[1]!, tenants.clubs[1]!, tenants.people[1]!]
    const writer = await transaction()
    await writer.client.query(put, address)
    await blocked(writer, (client) => client.query(batch('get'), address))
  })
})

describe('erasing', () => {
  it.each(['a whole storage', "a member's own entries"])('%s locks the usage row before an entry', async (what) => {
    const [app, club, person] = [tenants.apps[0], tenants.clubs[0], tenants.people[0]]
    await createStorage(testCore(db), tenants, 0, 0, 0).put({ collection: 'c', key: 'k', scope: 'user', value: 1 })
    const holder = await transaction()
    await holder.client.query(lock, [app, club])
    const erased = erase(db, { app, club, member: what === 'a whole storage' ? undefined : person })
    const waiting = 'SELECT count(*)::int AS waiting FROM pg_locks WHERE $1 = ANY (pg_blocking_pids(pid))'
    await expect
      .poll(() => holder.client.query(waiting, [holder.pid]).then(({ rows }) => rows[0].waiting))
      .toBeGreaterThan(0)
    const entry = 'SELECT key FROM "StorageEntry" WHERE "appId" = $1 AND "clubId" = $2 FOR UPDATE NOWAIT'
    expect((await holder.client.query(entry, [app, club])).rows).toEqual([{ key: 'k' }])
    await holder.client.query('ROLLBACK')
    expect(await erased).toEqual({ entries: 1, bytes: 1 })
  })
})

describe('the removal of', () => {
  it.each([
    ['an app', 'DELETE FROM "App" WHERE id = $1', ({ apps }: Tenants) => [apps[0]], [0, 1], [0, 0]],
    ['a club', 'DELETE FROM "Organisation" WHERE id = $1', ({ clubs }: Tenants) => [clubs[0]], [1, 0], [0, 0]],
    [
      'a member',
      'DELETE FROM "Membership" WHERE "organisationId" = $1 AND "personId" = $2',
      ({ clubs, people }: Tenants) => [clubs[0], people[0]],
      [1, 0],
      [0, 0],
    ],
  ] as const)('%s locks the usage rows in the order of their ids', async (_, sql, values, first, second) => {
    const row = ([app, club]: readonly [0 | 1, 0 | 1]) => [tenants.apps[app], tenants.clubs[club]] as const
    const holder = await transaction()
    await holder.client.query(lock, [...row(first)])
    await blocked(holder, async (client) => {
      // As on a small table, or a stale plan: rows come as they are stored.
      await client.query('SET LOCAL enable_indexscan = off; SET LOCAL enable_bitmapscan = off')
      await client.query(sql, values(tenants))
    })
    expect(await isFree(...row(second))).toBe(true)
  })
})
