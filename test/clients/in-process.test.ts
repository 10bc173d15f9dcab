import { randomBytes } from 'node:crypto'
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest'
import { StoreWatch } from '../../routers/kernel/store-watch.ts'
import type { Json, Principal, Service } from '../../server/in-process.ts'
import { createService } from '../../server/in-process.ts'
import { openPostgresWakes } from '../../server/process/postgres-wakes.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { direct } from '../support/addresses.ts'
import { emptyDatabase, migratedDatabase, query } from '../support/databases.ts'
import { createTenant } from '../support/tenant.ts'
import { openTestDatabase } from '../support/test-database.ts'

const newKey = () => randomBytes(32).toString('base64')

/** A service on a database of its own, with a tenant. */
async function begin(more: { storageQuotaBytes?: number; brand?: string } = {}) {
  const databaseUrl = await migratedDatabase()
  const secretsKey = newKey()
  const service = await createService({ databaseUrl, secretsKey, ...more })
  onTestFinished(() => service.close())
  const db = openTestDatabase(databaseUrl)
  onTestFinished(() => db.$disconnect())
  const ids = await createTenant(db)
  const member: Principal = {
    member: ids.member,
    organisation: ids.club,
    client: ids.client,
    scopes: new Set(['svc.apps.storage:read', 'svc.apps.storage:write', 'svc.me.profile:read']),
  }
  return { service, db, databaseUrl, secretsKey, ids, member }
}

describe('createService', () => {
  it('calls procedures for a principal', async () => {
    const { service, member, ids } = await begin()
    const caller = service.callAs(member)
    expect(await caller.me.profile()).toMatchObject({ id: ids.member, firstName: 'Mia' })
    const put = await caller.storage.put({ collection: 'c', key: 'k', value: { points: 3 } })
    expect(await caller.storage.get({ collection: 'c', key: 'k' })).toEqual(put)
    expect(put.value).toEqual({ points: 3 })
  })

  it('refuses a database without the tables, and makes them only with migrateOnStart', async () => {
    const options = { databaseUrl: await emptyDatabase(), secretsKey: newKey() }
    const tables = () => query(options.databaseUrl, `SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`)
    await expect(createService(options)).rejects.toThrow(
      'MIGRATE_ON_START is false, and the database has no tables of this service: if it is the right one, ' +
        'run `member-apps migrate` first.',
    )
    expect(await tables()).toEqual([])
    const service = await createService({ ...options, migrateOnStart: true })
    await service.close()
    expect(await tables()).not.toEqual([])
  })

  it.each(['databaseUrl', 'databaseDirectUrl'])(
    'refuses a parameter of %s that it would ignore, by name',
    async (name) => {
      const databaseUrl = await emptyDatabase()
      const options = { databaseUrl, [name]: `${databaseUrl}?schema=clubs`, secretsKey: newKey(), migrateOnStart: true }
      await expect(createService(options)).rejects.toThrow(
        new TypeError(`${name} is not possible with the parameter schema: the tables are in the schema public`),
      )
      expect(await query(databaseUrl, `SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`)).toEqual([])
    },
  )

  it('makes the same checks as over HTTP', async () => {
    const { service, member } = await begin({ storageQuotaBytes: 10, brand: 'Riverside' })
    const at = { collection: 'c', key: 'k' }
    const scopeless = service.callAs({ ...member, scopes: new Set() })
    await expect(scopeless.me.profile()).rejects.toMatchObject({ status: 403, publicCode: 'missing_scope' })
    const stranger = service.callAs({ ...member, member: 'stranger' })
    await expect(stranger.storage.get(at)).rejects.toMatchObject({ status: 404, publicCode: 'not_found' })
    const caller = service.callAs(member)
    await expect(caller.storage.put({ ...at, value: 'more than ten' })).rejects.toMatchObject({ status: 413 })
    expect(await caller.storage.list({ collection: 'c' })).toEqual({ items: [], total: 0 })
  })

  it('encrypts with the given key: a subscription copies the secret of a webhook', async () => {
    const { service, db, ids, secretsKey } = await begin()
    const app = service.callAs({
      member: ids.member,
      organisation: ids.provider,
      client: ids.client,
      scopes: new Set(['ntf.apps.webhook:update']),
    })
    await app.webhook.put({ id: ids.app, url: 'https://example.org/hook', secret: 'a-secret' })
    const platform = service.callAs({
      member: null,
      organisation: ids.provider,
      client: ids.platform,
      scopes: new Set(['ntf.subscriptions:write']),
    })
    const { id } = await platform.subscriptions.create({ app: ids.app, subscriber: 'club' })
    const { secret } = await db.subscription.findUniqueOrThrow({ where: { id } })
    const cipher = createCipher([Buffer.from(secretsKey, 'base64')])
    expect(cipher.decrypt(secret!, `Subscription.secret:${id}`)).toBe('a-secret')
  })

  it('refuses what is no key, and a key that is not the one of the database', async () => {
    const { databaseUrl } = await begin()
    const wrong = createService({ databaseUrl, secretsKey: 'short' })
    await expect(wrong).rejects.toThrow(/^secretsKey: 32 bytes in base64/)
    const other = createService({ databaseUrl, secretsKey: newKey() })
    await expect(other).rejects.toThrow('SECRETS_KEY is not the key that encrypted the secrets in this database.')
  })

  it('leaves no connection behind, neither when it is closed nor when it is refused', async () => {
    const databaseUrl = await migratedDatabase()
    const connections = () =>
      query(
        databaseUrl,
        `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      )
    const service = await createService({ databaseUrl, secretsKey: newKey() })
    expect(await connections()).not.toEqual([])
    await service.close()
    await expect(createService({ databaseUrl, secretsKey: newKey() })).rejects.toThrow('SECRETS_KEY')
    await expect.poll(connections).toEqual([])
  })

  it('reports its changes to nodes, also right after the start and before the end', async () => {
    const { service, db, databaseUrl, secretsKey, member, ids } = await begin()
    const never = 2 ** 31 - 1
    const stores = new StoreWatch(db, { notified: never, alone: never })
    const wakes = openPostgresWakes(db, direct(databaseUrl), { stores })
    onTestFinished(wakes.close)
    await expect.poll(() => stores.isNotified).toBe(true)
    for (const one of [await createService({ databaseUrl, secretsKey }), service]) {
      const listener = stores.listen({ app: ids.app, club: ids.club, owner: '', collection: 'c' })
      listener.reset()
      await one.callAs(member).storage.put({ collection: 'c', key: 'k', value: 1 })
      await one.close()
      await listener.moved()
      listener.close()
    }
  })

  it('has inputs and outputs in which values are JSON', () => {
    type Caller = ReturnType<Service['callAs']>
    expectTypeOf<Parameters<Caller['storage']['put']>[0]['value']>().toEqualTypeOf<Json>()
    expectTypeOf<Parameters<Caller['events']['publish']>[0]['data']>().toEqualTypeOf<Json>()
    expectTypeOf<Awaited<ReturnType<Caller['storage']['get']>>['value']>().toEqualTypeOf<Json>()
    // @ts-expect-error It is never undefined.
    const call = (caller: Caller) => caller.storage.put({ collection: 'c', key: 'k', value: undefined })
    expectTypeOf(call).toBeFunction()
  })
})
