import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { mintMember } from '../support/app-server.ts'
import { migratedDatabase, query } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'
import { createTenant } from '../support/tenant.ts'
import { openTestDatabase } from '../support/test-database.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'

const MOST = 3
const exceeded = { status: 413, body: { detail: 'App storage quota exceeded.' } }

/** A database of its own, as the limit is a function of the database. */
let databaseUrl: string
let db: Database
beforeAll(async () => {
  databaseUrl = await migratedDatabase(afterAll)
  db = openTestDatabase(databaseUrl)
  expect(await query(databaseUrl, 'SELECT storage_max_entries()::int AS most')).toEqual([{ most: 1_000_000 }])
  await query(
    databaseUrl,
    `CREATE OR REPLACE FUNCTION storage_max_entries() RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT ${MOST}::bigint'`,
  )
})

let world: World
beforeEach(async () => {
  world = await startWorld({ databaseUrl, like: { ids: await createTenant(db), secretsKeys: [randomBytes(32)] } })
})
afterEach(() => world.close())
afterAll(() => db.$disconnect())

const put = (path: string, value: unknown = 1, { headers = {}, claims = {} } = {}) =>
  world.call('PUT', `/storage/${path}`, { headers, claims, body: { value } })
const remove = (path: string) => world.call('DELETE', `/storage/${path}`)
const batch = (...operations: object[]) =>
  world.call('POST', '/batch', { body: { operations: operations.map((one) => ({ collection: 'c', ...one })) } })
const putOne = (key: string) => ({ op: 'put', key, value: 2 })
const store = () => `"appId" = '${world.ids.app}' AND "clubId" = '${world.ids.club}'`
const ask = (sql: string) => query(databaseUrl, sql)

async function stored() {
  const rows = await ask(`SELECT key, value FROM "StorageEntry" WHERE ${store()} ORDER BY key`)
  const [usage] = await ask(`SELECT entries::int FROM "StorageUsage" WHERE ${store()}`)
  expect(usage?.entries ?? rows.length).toBe(rows.length)
  return rows.map(({ key, value }) => `${key}=${value}`)
}
const full = async () => {
  for (const key of ['a', 'b', 'd']) expect((await put(`c/${key}`)).status).toBe(200)
}
/** As a node of the former release does. */
const write = (key: string) =>
  ask(`SELECT outcome FROM storage_write('${world.ids.app}', '${world.ids.club}', '', 'c', '${key}', '3', gen_random_uuid(), now(), 100,
    null, null, null)`)
const byHand = (keys: string) => ask(insertion(keys))
const insertion = (keys: string) =>
  `INSERT INTO "StorageEntry" ("appId", "clubId", owner, collection, key, value, version, "updatedAt")
    SELECT '${world.ids.app}', '${world.ids.club}', '', 'c', key, '1', gen_random_uuid(), now() FROM unnest('${keys}'::text[]) key`

describe('the most entries of a store', () => {
  it('counts both scopes, all collections and members: one more is 413 and changes nothing', async () => {
    const sub = await mintMember(world)
    expect((await put('c/a')).status).toBe(200)
    expect((await put('d/b?scope=user')).status).toBe(200)
    expect((await put('c/own?scope=user', 1, { claims: { sub } })).status).toBe(200)
    const refused = await put('c/more')
    expect(refused).toMatchObject(exceeded)
    expect(refused.headers).toMatchObject({
      'x-storage-used': '3',
      'x-storage-limit': '10485760',
      'x-error-code': 'quotaExceeded',
    })
    expect(await stored()).toEqual(['a=1', 'b=1', 'own=1'])
    await world.db.person.delete({ where: { id: sub } })
    expect((await put('c/more')).status).toBe(200)
    expect(await put('c/again')).toMatchObject(exceeded)
  })

  it('lets existing entries be replaced, and removed ones make space', async () => {
    await full()
    expect((await put('c/a', 'longer than before')).status).toBe(200)
    expect((await remove('c/b')).status).toBe(204)
    expect((await put('c/more')).status).toBe(200)
    expect(await put('c/b')).toMatchObject(exceeded)
    expect(await stored()).toEqual(['a="longer than before"', 'd=1', 'more=1'])
  })

  it('comes after a precondition that fails', async () => {
    await full()
    expect(await put('c/more', 1, { headers: { 'if-match': '*' } })).toMatchObject({ status: 412 })
  })

  it('is exact for concurrent writers, of a node and on connections of others', async () => {
    const replies = await Promise.all(Array.from({ length: 5 }, (_, n) => put(`c/k${n}`)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 200, 413, 413])
    await remove(`c/${(await stored())[0]!.split('=')[0]}`)
    const rows = await Promise.all(Array.from({ length: 8 }, (_, n) => write(`of${n}`)))
    expect(
      rows
        .flat()
        .map(({ outcome }) => outcome)
        .sort(),
    ).toEqual([...Array(7).fill('full'), 'stored'])
    expect(await stored()).toHaveLength(MOST)
  })

  it('is exact beside an insertion by hand that has not ended', async () => {
    await put('c/a')
    const hand = pgClient(databaseUrl)
    await hand.connect()
    onTestFinished(() => hand.end())
    await hand.query(`BEGIN; ${insertion('{x,y}')}`)
    const { rows } = await hand.query('SELECT pg_backend_pid() AS pid')
    const waiting = put('c/b')
    const waits = `SELECT FROM pg_stat_activity WHERE ${rows[0].pid} = ANY (pg_blocking_pids(pid))`
    await expect.poll(() => ask(waits)).toHaveLength(1)
    await hand.query('COMMIT')
    expect(await waiting).toMatchObject(exceeded)
    expect(await stored()).toEqual(['a=1', 'x=1', 'y=1'])
  })

  it('counts at the end of a batch, which is stored whole or not at all', async () => {
    await full()
    expect(await batch(putOne('a'), putOne('more'))).toMatchObject({
      status: 413,
      body: { error: { code: 'invalid_request', message: 'App storage quota exceeded.' } },
    })
    expect(await stored()).toEqual(['a=1', 'b=1', 'd=1'])
    expect((await batch(putOne('more'), { op: 'delete', key: 'a' })).status).toBe(200)
    expect((await batch(putOne('b'), { op: 'get', key: 'd' })).status).toBe(200)
    expect(await stored()).toEqual(['b=2', 'd=1', 'more=2'])
  })

  it('is 413 over tRPC', async () => {
    await full()
    const headers = { authorization: `Bearer ${await world.token()}` }
    const putBy = (key: string) =>
      world.internal('POST', '/trpc/storage.put', { headers, body: JSON.stringify({ collection: 'c', key, value: 2 }) })
    expect(await putBy('more')).toMatchObject({ status: 413 })
    expect(await putBy('a')).toMatchObject({ status: 200 })
    expect(await stored()).toEqual(['a=2', 'b=1', 'd=1'])
  })

  it('counts entries that are stored and removed by hand, and does not bound them', async () => {
    await full()
    await byHand('{x,y}')
    expect(await put('c/more')).toMatchObject(exceeded)
    await ask(`DELETE FROM "StorageEntry" WHERE ${store()} AND key IN ('x', 'a')`)
    expect(await put('c/more')).toMatchObject(exceeded)
    await ask(`DELETE FROM "StorageEntry" WHERE ${store()} AND key = 'y'`)
    expect((await put('c/more')).status).toBe(200)
    expect(await stored()).toEqual(['b=1', 'd=1', 'more=1'])
  })

  it.each(['put', 'batch', 'delete'])(
    'holds in a store of the release before, whose entries nobody has counted: %s',
    async (by) => {
      await full()
      await ask(`UPDATE "StorageUsage" SET entries = NULL WHERE ${store()}`)
      if (by === 'delete') {
        await remove('c/d')
        expect((await put('c/d')).status).toBe(200)
      }
      const refused = by === 'batch' ? await batch(putOne('more')) : await put('c/more')
      expect(refused.status).toBe(413)
      expect(await stored()).toEqual(['a=1', 'b=1', 'd=1'])
    },
  )

  it('is the same for nodes of the former release', async () => {
    await full()
    expect(await write('more')).toEqual([{ outcome: 'full' }])
    expect(await write('a')).toEqual([{ outcome: 'stored' }])
    expect(await stored()).toEqual(['a=3', 'b=1', 'd=1'])
  })
})
