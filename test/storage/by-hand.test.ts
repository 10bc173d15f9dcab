import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { pgClient } from '../support/pg-client.ts'
import type { Usage } from '../support/storage-usage.ts'
import { counterAndSum } from '../support/storage-usage.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'
import { values } from './values.ts'

/** A connection as Studio or psql have one. */
const hand = pgClient(inject('databaseUrl'))
let world: World
let key: string
beforeAll(async () => {
  world = await startWorld()
  await hand.connect()
})
afterAll(() => Promise.all([world.close(), hand.end()]))
beforeEach(() => {
  key = id('k')
})

const path = () => `/storage/c/${key}`
const put = async (value: unknown) => (await world.call('PUT', path(), { body: { value } })).headers.etag!
const get = (headers = {}) => world.call('GET', path(), { headers })
const ours = () => [world.ids.app, world.ids.club]
const update = (assignments: string, ...more: unknown[]) =>
  hand.query(`UPDATE "StorageEntry" SET ${assignments} WHERE "appId" = $1 AND "clubId" = $2 AND key = $3`, [
    ...ours(),
    key,
    ...more,
  ])
const insert = (value: string, version = '00000000-0000-4000-8000-000000000000') =>
  hand.query(
    `INSERT INTO "StorageEntry" ("appId", "clubId", owner, collection, key, value, version, "updatedAt")
     VALUES ($1, $2, '', 'c', $3, $4, $5, now())`,
    [...ours(), key, value, version],
  )
/** The database's clock in Unix seconds, rounded as `updatedAt` is stored and returned. */
const clock = async (): Promise<number> =>
  (await hand.query(`SELECT floor(extract(epoch FROM clock_timestamp()::timestamptz(3)))::int AS now`)).rows[0].now
const usage = async () => (await hand.query<Usage>(counterAndSum, ours())).rows[0]!

const noJson = ['', 'text', '{"a":1', '01', '"\u0001"', '1 2', '\ufeff1']

describe('a value that is changed by hand', () => {
  it.each(noJson)('is refused when it is no JSON: %j', async (value) => {
    await expect(insert(value)).rejects.toThrow('invalid input syntax for type json')
    expect((await get()).status).toBe(404)
    const etag = await put({ kept: true })
    const before = await get()
    await expect(update('value = $4', value)).rejects.toThrow('invalid input syntax for type json')
    expect(await get()).toMatchObject({ status: 200, text: before.text, headers: { etag } })
    expect((await world.call('GET', '/storage/c')).status).toBe(200)
    const { counted, stored } = await usage()
    expect(counted).toBe(stored)
  })

  it('is refused too after a write of the service in the same transaction, also one that failed', async () => {
    const call = (club: string) =>
      hand.query(
        `SELECT storage_write($1, $2, '', 'c', $3, '1', gen_random_uuid(), now(), 1000, null, null, null, false)`,
        [world.ids.app, club, key],
      )
    await put(1)
    await hand.query('BEGIN')
    try {
      await call(world.ids.club)
      await hand.query('SAVEPOINT put')
      await expect(call('unknown')).rejects.toThrow('foreign key')
      await hand.query('ROLLBACK TO put')
      await expect(update('value = $4', 'text')).rejects.toThrow('invalid input syntax for type json')
    } finally {
      await hand.query('ROLLBACK')
    }
  })

  it('is returned byte for byte when it is any JSON that the service takes', async () => {
    await insert('0')
    for (const [name, text] of values.filter(([, { length }]) => length < 100_000)) {
      await update('value = $4', text)
      expect((await get()).text, name).toContain(`"value":${text},"updatedAt":`)
    }
  })
})

describe('an address by hand', () => {
  it.each([`collection = 'a.b'`, `collection = ''`, `key = 'ü'`, `key = repeat('k', 65)`, `owner = 'somebody'`])(
    'is refused where the service would not take it: %s',
    async (assignment) => {
      const etag = await put(1)
      await expect(update(assignment)).rejects.toMatchObject({ code: '23514' })
      expect(await get()).toMatchObject({ status: 200, headers: { etag } })
    },
  )

  it('is refused by storage_write too', async () => {
    const write = (collection: string, key: string) =>
      hand.query(
        `SELECT storage_write($1, $2, '', $3, $4, '1', gen_random_uuid(), now(), 10000000, null, null, null, false)`,
        [...ours(), ...[collection, key]],
      )
    await expect(write('a.b', key)).rejects.toMatchObject({ code: '23514' })
    await expect(write('c', 'a b')).rejects.toMatchObject({ code: '23514' })
    expect((await get()).status).toBe(404)
  })
})

describe('an entry that is changed by hand', () => {
  it.each([`value = '2'`, `value = '2', version = $4`, `version = $4`, `"updatedAt" = '2020-01-01'`, `key = key`])(
    'gets a new version and time: %s',
    async (assignments) => {
      const etag = await put(1)
      const version = etag.slice(1, -1)
      await update(`"updatedAt" = '2020-01-01'`)
      const before = await clock()
      await update(assignments, ...(assignments.includes('$4') ? [version] : []))
      const written = await clock()
      const after = await get({ 'if-none-match': etag })
      expect(after.status).toBe(200)
      expect(after.headers.etag).toMatch(/^"[0-9a-f-]{36}"$/)
      expect(after.headers.etag).not.toBe(etag)
      expect(after.body.updatedAt).toBeGreaterThanOrEqual(before)
      expect(after.body.updatedAt).toBeLessThanOrEqual(written)
      const stale = await world.call('PUT', path(), { headers: { 'if-match': etag }, body: { value: 3 } })
      expect(stale).toMatchObject({ status: 412, body: { detail: 'This entry has changed.' } })
      expect((await get()).body.value).toBe(assignments.startsWith('value') ? 2 : 1)
    },
  )

  it('never gets the version of a removed one', async () => {
    const etag = await put(1)
    const version = etag.slice(1, -1)
    await world.call('DELETE', path())
    await insert('2', version)
    expect((await get({ 'if-none-match': etag })).status).toBe(200)
  })

  it('keeps the version that a PUT has answered with', async () => {
    for (const value of [1, 2]) {
      const etag = await put(value)
      expect(await get()).toMatchObject({ headers: { etag } })
    }
  })
})

describe('the usage of a store', () => {
  it.each([
    ['set to another figure', 'UPDATE "StorageUsage" SET bytes = bytes + 1 WHERE "appId" = $1 AND "clubId" = $2'],
    ['removed', 'DELETE FROM "StorageUsage" WHERE "appId" = $1 AND "clubId" = $2'],
    ['given to another club', `UPDATE "StorageUsage" SET "clubId" = '' WHERE "appId" = $1 AND "clubId" = $2`],
  ])('cannot be %s by hand', async (_, sql) => {
    await put('ü')
    const before = await usage()
    expect(before.counted).toBe(before.stored)
    await expect(hand.query(sql, ours())).rejects.toThrow(/is the sum of the bytes of its values|foreign key/)
    expect(await usage()).toEqual(before)
    const one = await world.call('PUT', path(), { body: { value: 'ü' } })
    expect(one.headers['x-storage-used']).toBe(String(before.counted))
  })

  it('cannot begin with another figure by hand', async () => {
    const club = id('club')
    await world.db.organisation.createMany({ data: [{ id: club, kind: 'club', name: 'C' }] })
    const begin = (bytes: number) =>
      hand.query('INSERT INTO "StorageUsage" VALUES ($1, $2, $3)', [world.ids.app, club, bytes])
    await expect(begin(1)).rejects.toThrow('is the sum of the bytes of its values')
    await begin(0)
  })

  it('follows what is changed by hand, and can be set to the sum', async () => {
    await put('four')
    const { stored } = await usage()
    await update(`value = '[1,2,3,4,5]'`)
    expect(await usage()).toEqual({ counted: stored + 5, stored: stored + 5 })
    await hand.query('UPDATE "StorageUsage" SET bytes = $3 WHERE "appId" = $1 AND "clubId" = $2', [
      ...ours(),
      stored + 5,
    ])
    await hand.query('DELETE FROM "StorageEntry" WHERE "appId" = $1 AND "clubId" = $2', ours())
    expect(await usage()).toEqual({ counted: 0, stored: 0 })
    await hand.query('DELETE FROM "StorageUsage" WHERE "appId" = $1 AND "clubId" = $2', ours())
  })
})
