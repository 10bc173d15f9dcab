import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { callAs } from '../../routers/core.ts'
import { erase } from '../../server/admin/storage-owners.ts'
import { mintMember } from '../support/app-server.ts'
import type { Call, Reply } from '../support/request.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const world = useWorld()

const DAY = 86_400
const BAD_KEY = 'Idempotency-Key must be 1 to 255 visible ASCII characters.'
const MISMATCH = 'This Idempotency-Key was already used with a different body.'

const newKey = () => id('k')
const send = (method: string, at: string, idempotencyKey: string, { headers, ...more }: Call = {}) =>
  world.call(method, `/storage/${at}`, { ...more, headers: { 'idempotency-key': idempotencyKey, ...headers } })
const put = (at: string, value: unknown, key: string, more: Call = {}) =>
  send('PUT', at, key, { ...more, body: { value } })
const remove = (at: string, key: string, more: Call = {}) => send('DELETE', at, key, more)
/** An entry that no other test has. */
const place = () => `c/${randomUUID()}`
const valueAt = async (at: string) => (await world.call('GET', `/storage/${at}`)).body.value
const store = () => ({ appId: world.ids.app, clubId: world.ids.club })
const countChanges = async () => (await world.db.storageUsage.findUniqueOrThrow({ where: { of: store() } })).changes
const requests = (where = {}) => world.db.storageRequest.count({ where: { ...store(), ...where } })

const pickAnswer = ({ status, text, headers }: Reply) => ({
  status,
  text,
  etag: headers.etag,
  type: headers['content-type'],
  used: headers['x-storage-used'],
  limit: headers['x-storage-limit'],
})

describe('a PUT with an Idempotency-Key', () => {
  it('that is repeated gets the first answer, with its ETag and usage, and is stored once', async () => {
    const [at, key] = [place(), newKey()]
    const first = await put(at, { b: 1, a: [1.5] }, key)
    expect(first.status).toBe(200)
    const changes = await countChanges()
    const again = await put(at, { b: 1, a: [1.5] }, key)
    expect(pickAnswer(again)).toEqual(pickAnswer(first))
    expect(await countChanges()).toBe(changes)
  })

  it('gets the first answer also after others have replaced, grown and removed entries', async () => {
    const [at, key] = [place(), newKey()]
    const first = await put(at, 1, key)
    await world.call('PUT', `/storage/${at}`, { body: { value: 'of another' } })
    await world.call('PUT', `/storage/${place()}`, { body: { value: 'more' } })
    expect(pickAnswer(await put(at, 1, key))).toEqual(pickAnswer(first))
    expect(await valueAt(at)).toBe('of another')
    await world.call('DELETE', `/storage/${at}`)
    expect(pickAnswer(await put(at, 1, key))).toEqual(pickAnswer(first))
    expect((await world.call('GET', `/storage/${at}`)).status).toBe(404)
  })

  it.each([
    ['If-None-Match: *', { 'if-none-match': '*' }],
    ['If-Match', undefined],
  ])('does not meet its own effect with %s', async (_, given) => {
    const [at, key] = [place(), newKey()]
    const { etag } = given
      ? { etag: undefined }
      : (await world.call('PUT', `/storage/${at}`, { body: { value: 0 } })).headers
    const headers = given ?? { 'if-match': etag! }
    const first = await put(at, 1, key, { headers })
    expect(first.status).toBe(200)
    expect(pickAnswer(await put(at, 1, key, { headers }))).toEqual(pickAnswer(first))
  })

  it('returns values byte for byte again', async () => {
    const at = place()
    const call = () => send('PUT', at, 'bytes', { body: '{"value": {"b":1.0,"a":1e400,"a":"\\u0000"} }' })
    const first = await call()
    expect(first.text).toContain('{"b":1.0,"a":1e400,"a":"\\u0000"}')
    expect((await call()).text).toBe(first.text)
  })

  it('takes a value of 5 MB, and returns it again once the store is full', async () => {
    const [at, value, key] = ['large/k', 'x'.repeat(5_000_000), newKey()]
    const first = await put(at, value, key)
    expect(first.status).toBe(200)
    await world.call('PUT', '/storage/large/other', { body: { value: 'y'.repeat(5_000_000) } })
    expect(pickAnswer(await put(at, value, key))).toEqual(pickAnswer(first))
    await world.call('DELETE', `/storage/${at}`)
    await world.call('PUT', '/storage/large/more', { body: { value: 'y'.repeat(5_000_000) } })
    expect(pickAnswer(await put(at, value, key))).toEqual(pickAnswer(first))
    expect((await put(at, value, newKey())).status).toBe(413)
    for (const other of ['other', 'more']) await world.call('DELETE', `/storage/large/${other}`)
  })
})

describe('a DELETE with an Idempotency-Key', () => {
  it('that is repeated is 204 again, and leaves what was stored since', async () => {
    const [at, key] = [place(), newKey()]
    await world.call('PUT', `/storage/${at}`, { body: { value: 1 } })
    const first = await remove(at, key)
    expect(first.status).toBe(204)
    expect(pickAnswer(await remove(at, key))).toEqual(pickAnswer(first))
    await world.call('PUT', `/storage/${at}`, { body: { value: 2 } })
    expect(pickAnswer(await remove(at, key))).toEqual(pickAnswer(first))
    expect(await valueAt(at)).toBe(2)
  })
})

describe('an Idempotency-Key of the storage', () => {
  it.each([
    ['of one character', () => '!'],
    ['of 255 characters', () => 'k'.repeat(255)],
    ['of punctuation', () => `"#$%&'()*+,-./:;<=>?@[]^_{|}~`],
  ])('%s counts', async (_, key) => {
    const at = place()
    const first = await put(at, 1, key())
    expect(first.status).toBe(200)
    expect((await put(at, 1, key())).headers.etag).toBe(first.headers.etag)
  })

  it.each([
    ['empty', ''],
    ['with a space', 'a b'],
    ['of 256 characters', 'k'.repeat(256)],
    ['that is no ASCII', 'ä'],
    ['that comes twice', ['a', 'b']],
  ])('%s is 400, and nothing changes', async (_, given) => {
    const at = place()
    await world.call('PUT', `/storage/${at}`, { body: { value: 1 } })
    const headers = { 'idempotency-key': given }
    for (const method of ['PUT', 'DELETE']) {
      const body = method === 'PUT' ? { value: 2 } : undefined
      expect(await world.call(method, `/storage/${at}`, { headers, body })).toMatchObject({
        status: 400,
        body: { detail: BAD_KEY },
      })
    }
    expect(await valueAt(at)).toBe(1)
  })

  it.each<[string, (at: string, key: string) => Promise<Reply>]>([
    ['another value', (at, key) => put(at, 2, key)],
    ['the value written differently', (at, key) => send('PUT', at, key, { body: '{"value":1.0}' })],
    ['another key', (at, key) => put(`${at}x`, 1, key)],
    ['another collection', (at, key) => put(`d${at}`, 1, key)],
    ['another scope', (at, key) => put(`${at}?scope=user`, 1, key)],
    ['If-Match', (at, key) => put(at, 1, key, { headers: { 'if-match': '*' } })],
    ['If-None-Match', (at, key) => put(at, 1, key, { headers: { 'if-none-match': '"x"' } })],
    ['DELETE', (at, key) => remove(at, key)],
  ])('that comes again with %s is 409, and nothing changes', async (_, other) => {
    const [at, key] = [place(), newKey()]
    const first = await put(at, 1, key)
    const changes = await countChanges()
    expect(await other(at, key)).toMatchObject({
      status: 409,
      body: { detail: MISMATCH },
      headers: { 'x-error-code': 'idempotencyMismatch' },
    })
    expect(await countChanges()).toBe(changes)
    expect(pickAnswer(await put(at, 1, key))).toEqual(pickAnswer(first))
  })

  it('of a DELETE is 409 for a PUT', async () => {
    const [at, key] = [place(), newKey()]
    await world.call('PUT', `/storage/${at}`, { body: { value: 1 } })
    expect((await remove(at, key)).status).toBe(204)
    expect((await put(at, 1, key)).status).toBe(409)
    expect((await world.call('GET', `/storage/${at}`)).status).toBe(404)
  })

  it('is not used up by a refusal, which is of the moment', async () => {
    const [at, key] = [place(), newKey()]
    const before = await requests()
    const absent = await remove(at, key)
    expect(absent).toMatchObject({ status: 404, body: { detail: 'This key does not exist.' } })
    expect(absent.headers['x-storage-used']).toBeDefined()
    const stale = await put(at, 1, key, { headers: { 'if-match': '"x"' } })
    expect(stale).toMatchObject({ status: 412, body: { detail: 'This entry has changed.' } })
    expect(stale.headers['x-storage-used']).toBe(absent.headers['x-storage-used'])
    const full = await put(at, 'x'.repeat(10_485_760), key)
    expect(full).toMatchObject({ status: 413, body: { detail: 'App storage quota exceeded.' } })
    expect(full.headers['x-storage-used']).toBe(absent.headers['x-storage-used'])
    expect(await requests()).toBe(before)
    expect((await put(at, 2, key)).status).toBe(200)
  })

  it('is refused by a rule, and then still free', async () => {
    const [of, key] = [{ appId: world.ids.app, collection: 'ruled' }, newKey()]
    await world.db.collectionRule.create({ data: { ...of, rule: 'app' } })
    const refused = await put('ruled/k', 1, key)
    expect(refused).toMatchObject({ status: 403, body: { detail: 'This entry belongs to another member.' } })
    expect(refused.headers['x-storage-used']).toBeDefined()
    await world.db.collectionRule.deleteMany({ where: of })
    const first = await put('ruled/k', 1, key)
    expect(first.status).toBe(200)
    // Stored entries stay stored: the rule is for the next write.
    await world.db.collectionRule.create({ data: { ...of, rule: 'app' } })
    expect(pickAnswer(await put('ruled/k', 1, key))).toEqual(pickAnswer(first))
    await world.db.collectionRule.deleteMany({ where: of })
  })

  it('belongs to one client, member and store', async () => {
    const [at, key] = [place(), newKey()]
    const client_id = id('client')
    const of = { teamId: world.ids.team, appId: world.ids.app, environment: 'production' as const }
    await world.db.client.create({ data: { id: client_id, name: 'Second', ...of } })
    const sub = await mintMember(world)
    expect((await put(at, 1, key)).status).toBe(200)
    expect((await put(at, 2, key, { claims: { client_id } })).status).toBe(200)
    expect((await put(at, 3, key, { claims: { sub } })).status).toBe(200)
    expect(await valueAt(at)).toBe(3)
    expect((await put(at, 4, key.toUpperCase())).status).toBe(200)
  })

  it('is good for 24 hours to the millisecond, then free', async () => {
    const [collection, key, idempotencyKey] = ['edge', 'k', newKey()]
    const first = Date.parse('2020-05-05T12:00:00.500Z')
    let now = first
    const { storage } = callAs({ ...world.core, now: () => now }, world.principal())
    const write = (value: number) => storage.put({ collection, key, value, idempotencyKey })
    const stored = await write(1)
    now = first + DAY * 1000 - 1
    expect(await write(1)).toEqual(stored)
    await expect(write(2)).rejects.toMatchObject({ id: 'idempotencyMismatch' })
    now = first + DAY * 1000
    const later = await write(2)
    expect(later.etag).not.toBe(stored.etag)
    now += DAY * 1000 - 1
    expect(await write(2)).toEqual(later)
  })

  it.each<[string, (sub: string) => Promise<unknown>, number]>([
    [
      'who has left',
      (personId) =>
        world.db.membership.update({
          where: { of: { organisationId: world.ids.club, personId } },
          data: { leftAt: new Date(0) },
        }),
      404,
    ],
    ['who was removed', (sub) => world.db.person.delete({ where: { id: sub } }), 404],
  ])('of a member %s gives no answer', async (_, leave, status) => {
    const [at, key, sub] = [place(), newKey(), await mintMember(world)]
    await put(at, 1, key, { claims: { sub } })
    await leave(sub)
    world.advance(5)
    expect((await put(at, 1, key, { claims: { sub } })).status).toBe(status)
  })

  it('gives no answer without the scope, and none for a client that is gone', async () => {
    const [at, key] = [place(), newKey()]
    await put(at, 1, key)
    expect((await put(at, 1, key, { claims: { scope: 'svc.apps.storage:read' } })).status).toBe(403)
    expect((await put(at, 1, key, { claims: { client_id: 'gone' } })).status).toBe(401)
  })

  it('is allowed in preflights', async () => {
    const headers = {
      origin: 'https://app.example',
      'access-control-request-method': 'PUT',
      'access-control-request-headers': 'idempotency-key',
    }
    for (const [path, api] of [
      ['/storage/c/k', 'apps'],
      ['/batch', 'sync'],
    ] as const) {
      const reply = await world.call('OPTIONS', path, { api, token: null, headers, undocumented: true })
      expect(reply.headers['access-control-allow-headers']).toMatch(/\bidempotency-key\b/i)
    }
  })
})

describe('what is stored of a key', () => {
  it('is no value, but a hash of the request', async () => {
    const [at, key] = [place(), newKey()]
    await put(at, 'canary-value', key)
    const [row] = await world.db.$queryRaw<[object]>`SELECT * FROM "StorageRequest" WHERE key = ${key}`
    expect(row).toMatchObject({
      memberId: world.ids.member,
      clientId: world.ids.client,
      method: 'PUT',
      outcomes: ['stored'],
    })
    expect(JSON.stringify(row, (_, one) => (typeof one === 'bigint' ? String(one) : one))).not.toContain('canary')
  })

  it('goes with the erasure of a store, of a member in it, and of a membership', async () => {
    const sub = await mintMember(world)
    const leaving = await mintMember(world)
    for (const member of [sub, leaving, world.ids.member]) {
      await put(`${place()}?scope=user`, 1, newKey(), { claims: { sub: member } })
    }
    const of = { app: world.ids.app, club: world.ids.club }
    await erase(world.db, { ...of, member: sub })
    expect(await requests({ memberId: sub })).toBe(0)
    await world.db.membership.delete({ where: { of: { organisationId: of.club, personId: leaving } } })
    expect(await requests({ memberId: leaving })).toBe(0)
    expect(await requests({ memberId: world.ids.member })).toBeGreaterThan(0)
    await erase(world.db, of)
    expect(await requests()).toBe(0)
  })
})
