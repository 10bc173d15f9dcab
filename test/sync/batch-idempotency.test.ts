import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { mintAppServer } from '../support/app-server.ts'
import { expectRefusal } from '../support/refusal.ts'
import type { Call } from '../support/request.ts'
import { useWorld } from '../support/started.ts'

const world = useWorld()

const at = (key: string) => ({ collection: 'c', key })
const put = (key: string, value: unknown, more: object = {}) => ({ op: 'put', ...at(key), value, ...more })
const get = (key: string) => ({ op: 'get', ...at(key) })
const remove = (key: string, more: object = {}) => ({ op: 'delete', ...at(key), ...more })
const send = (idempotencyKey: string, operations: object[], more: Call = {}) =>
  world.call('POST', '/batch', { body: { operations }, headers: { 'idempotency-key': idempotencyKey }, ...more })
const changes = () => world.db.storageChange.count({ where: { clubId: world.ids.club } })
const valueAt = async (key: string) => (await world.call('GET', `/storage/c/${key}`)).body.value

describe('a batch with an Idempotency-Key', () => {
  it('that is repeated gets the first answer, and is applied once, whatever was written since', async () => {
    const [key, a, b] = [randomUUID(), randomUUID(), randomUUID()]
    await world.call('PUT', `/storage/c/${b}`, { body: { value: 0 } })
    const operations = [put(a, 1, { ifNoneMatch: '*' }), remove(b), remove(b), put(a, 2)]
    const first = await send(key, operations)
    expect(first).toMatchObject({ status: 200, body: { results: [{}, { deleted: true }, { deleted: false }, {}] } })
    const count = await changes()
    const again = async () => {
      const { status, text, headers } = await send(key, operations)
      expect([status, text]).toEqual([200, first.text])
      expect(headers['x-storage-used']).toBe(first.headers['x-storage-used'])
    }
    await again()
    expect(await changes()).toBe(count)
    await world.call('PUT', `/storage/c/${a}`, { body: { value: 'of another' } })
    await world.call('PUT', `/storage/c/${b}`, { body: { value: 'of another' } })
    await again()
    expect([await valueAt(a), await valueAt(b)]).toEqual(['of another', 'of another'])
  })

  it('reads again what it reads, as no value is stored with the key', async () => {
    const [key, a, b] = [randomUUID(), randomUUID(), randomUUID()]
    await world.call('PUT', `/storage/c/${a}`, { body: { value: 'x'.repeat(2_000_000) } })
    const operations = [get(a), put(b, 1), get('none'), get(b)]
    const first = await send(key, operations)
    expect(first.body.results).toMatchObject([{ key: a }, {}, { missing: true }, { value: 1 }])
    expect((await send(key, operations)).text).toBe(first.text)
    await world.call('PUT', `/storage/c/${a}`, { body: { value: 'new' } })
    const { results } = (await send(key, operations)).body
    expect(results).toEqual([{ ...first.body.results[0], ...results[0], value: 'new' }, ...first.body.results.slice(1)])
    expect(results[0].etag).not.toBe(first.body.results[0].etag)
  })

  it.each<[string, (a: string) => object[]]>([
    ['another value', (a) => [put(a, 2), remove('x')]],
    ['another order', (a) => [remove('x'), put(a, 1)]],
    ['one operation fewer', (a) => [put(a, 1)]],
    ['a precondition more', (a) => [put(a, 1, { ifMatch: '*' }), remove('x')]],
    ['another scope', (a) => [put(a, 1, { scope: 'user' }), remove('x')]],
  ])('that comes again with %s is 409 idempotency_mismatch, and nothing changes', async (_, other) => {
    const [key, a] = [randomUUID(), randomUUID()]
    await send(key, [put(a, 1), remove('x')])
    const count = await changes()
    const refused = await send(key, other(a))
    expectRefusal(
      refused,
      409,
      'conflict',
      'This Idempotency-Key was already used with a different body.',
      'idempotency_mismatch',
    )
    expect(await changes()).toBe(count)
  })

  it('has one key with PUT and DELETE of the storage', async () => {
    const [key, a] = [randomUUID(), randomUUID()]
    const headers = { 'idempotency-key': key }
    expect((await world.call('PUT', `/storage/c/${a}`, { body: { value: 1 }, headers })).status).toBe(200)
    expect((await send(key, [put(a, 1)])).status).toBe(409)
  })

  it('that is refused uses up no key', async () => {
    const [key, a] = [randomUUID(), randomUUID()]
    const refused = await send(key, [put('other', 1), put(a, 1, { ifMatch: '*' })])
    expect(refused).toMatchObject({ status: 412, body: { error: { message: 'Operation 1: This entry has changed.' } } })
    expect((await send(key, [put(a, 2)])).status).toBe(200)
  })

  it('is 400 with a key of another form, and nothing changes', async () => {
    const count = await changes()
    expectRefusal(
      await send('a b', [put('k', 1)]),
      ...([400, 'invalid_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.'] as const),
    )
    expect(await changes()).toBe(count)
  })

  it('of the app itself counts once, apart from those of members, and no rule binds it', async () => {
    const server = await mintAppServer(world)
    await world.db.collectionRule.create({ data: { appId: server.app, collection: 'c', rule: 'app' } })
    const key = randomUUID()
    const first = await send(key, [put('k', 1)], { claims: server.claims })
    expect(first.status).toBe(200)
    expect((await send(key, [put('k', 1)], { claims: server.claims })).text).toBe(first.text)
    const asMember = { claims: { client_id: server.client } }
    expect((await send(key, [put('k', 1)], asMember)).status).toBe(403)
    expect((await send(key, [put('k', 2)], { claims: server.claims })).status).toBe(409)
    const rows = await world.db.storageRequest.findMany({ where: { appId: server.app }, select: { memberId: true } })
    expect(rows).toEqual([{ memberId: '' }])
  })

  it('over tRPC takes the key as a field', async () => {
    const [key, a] = [randomUUID(), randomUUID()]
    const headers = { authorization: `Bearer ${await world.token()}` }
    const call = (value: number) =>
      world.internal('POST', '/trpc/storage.batch', {
        headers,
        body: { idempotencyKey: key, operations: [{ op: 'put', ...at(a), value }] },
      })
    const first = await call(1)
    expect(first.status).toBe(200)
    expect((await call(1)).text).toBe(first.text)
    expect(await call(2)).toMatchObject({ status: 409 })
    const single = (method: 'put' | 'delete', more: object) =>
      world.internal('POST', `/trpc/storage.${method}`, {
        headers,
        body: { ...at(a), idempotencyKey: `${method}-${key}`, ...more },
      })
    const stored = await single('put', { value: 3 })
    expect((await single('put', { value: 3 })).text).toBe(stored.text)
    expect((await single('delete', {})).status).toBe(200)
    expect((await single('delete', {})).status).toBe(200)
  })
})
