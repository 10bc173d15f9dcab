import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { mintMember } from '../support/app-server.ts'
import type { Reply } from '../support/request.ts'
import { useWorld } from '../support/started.ts'
import type { Usage } from '../support/storage-usage.ts'
import { counterAndSum } from '../support/storage-usage.ts'

import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'

const QUOTA = 1000

let world: World
afterEach(() => world.close())

const put = (path: string, bytes: number, claims = {}) =>
  world.call('PUT', `/storage/${path}`, { claims, body: JSON.stringify({ value: 'x'.repeat(bytes - 2) }) })
const remove = (path: string) => world.call('DELETE', `/storage/${path}`)

async function usage(app = world.ids.app, club = world.ids.club) {
  const [row] = await world.db.$queryRawUnsafe<Usage[]>(counterAndSum, app, club)
  return row!
}

const exceeded = { status: 413, body: { detail: 'App storage quota exceeded.' } }

describe('the storage quota', () => {
  it('is 10 MB by default and can be filled to the last byte', async () => {
    world = await startWorld()
    expect(world.core.storageQuotaBytes).toBe(10_485_760)
    expect(await put('c/all', 10_485_760)).toMatchObject({
      status: 200,
      headers: { 'x-storage-used': '10485760', 'x-storage-limit': '10485760' },
    })
    expect(await put('c/one', 2)).toMatchObject(exceeded)
    expect(await put('c/all', 10_485_761)).toMatchObject(exceeded)
    expect(await usage()).toEqual({ counted: 10_485_760, stored: 10_485_760 })
  })

  it('counts UTF-8 bytes over both scopes, all collections and all members', async () => {
    world = await startWorld({ storageQuotaBytes: QUOTA })
    await put('a/k', 300)
    await put('b/k?scope=user', 300)
    const reply = await world.call('PUT', '/storage/c/k', { body: { value: '€€' } })
    expect(reply.headers['x-storage-used']).toBe('608')
    expect(await put('d/k', 393)).toMatchObject(exceeded)
    expect(await put('d/k', 392)).toMatchObject({ status: 200, headers: { 'x-storage-used': '1000' } })
  })

  it('is full by bytes, not by characters', async () => {
    world = await startWorld({ storageQuotaBytes: QUOTA })
    const write = (key: string, value: string) => world.call('PUT', `/storage/c/${key}`, { body: { value } })
    // Two quotes and 333 characters of 3 bytes are 1001 bytes.
    expect(await write('k', '€'.repeat(333))).toMatchObject(exceeded)
    expect(await usage()).toEqual({ counted: 0, stored: 0 })
    expect(await write('k', `${'€'.repeat(332)}ab`)).toMatchObject({
      status: 200,
      headers: { 'x-storage-used': '1000' },
    })
    // As many characters, of more bytes; then fewer characters, of as many bytes.
    expect(await write('k', `${'€'.repeat(332)}aü`)).toMatchObject(exceeded)
    expect(await write('other', '')).toMatchObject(exceeded)
    expect(await write('k', `${'€'.repeat(332)}ü`)).toMatchObject({
      status: 200,
      headers: { 'x-storage-used': '1000' },
    })
    expect(await write('k', '😀'.repeat(249))).toMatchObject({ status: 200, headers: { 'x-storage-used': '998' } })
    expect(await write('other', '')).toMatchObject({ status: 200, headers: { 'x-storage-used': '1000' } })
    expect(await usage()).toEqual({ counted: QUOTA, stored: QUOTA })
    expect((await remove('c/k')).headers['x-storage-used']).toBe('2')
  })

  it('allows reads, deletes and writes that do not grow the total, even after it was lowered', async () => {
    world = await startWorld({ storageQuotaBytes: QUOTA })
    await put('c/a', 500)
    await put('c/b', 500)
    world.core.storageQuotaBytes = 100
    expect(await put('c/a', 500)).toMatchObject({ status: 200 })
    expect(await put('c/a', 501)).toMatchObject(exceeded)
    expect(await put('c/a', 400)).toMatchObject({
      status: 200,
      headers: { 'x-storage-used': '900', 'x-storage-limit': '100' },
    })
    expect(await world.call('GET', '/storage/c')).toMatchObject({ status: 200 })
    expect(await remove('c/b')).toMatchObject({ status: 204, headers: { 'x-storage-used': '400' } })
    expect(await usage()).toEqual({ counted: 400, stored: 400 })
  })

  it('lets five of seven concurrent values of a fifth through', async () => {
    world = await startWorld({ storageQuotaBytes: QUOTA })
    const replies = await Promise.all(Array.from({ length: 7 }, (_, i) => put(`c/k${i}`, QUOTA / 5)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 413, 413])
    expect(await usage()).toEqual({ counted: QUOTA, stored: QUOTA })
  })

  it.each(['app', 'author'] as const)('refuses no large value before the rule %s does', async (rule) => {
    world = await startWorld({ storageQuotaBytes: 300_000 })
    const sub = await mintMember(world)
    await world.db.collectionRule.create({ data: { appId: world.ids.app, collection: 'c', rule } })
    if (rule === 'author') await put('c/k', 2, { sub })
    await put('free/k', 250_000)
    const refused = { status: 403, body: { detail: 'This entry belongs to another member.' } }
    expect(await put('c/k', 200_000)).toMatchObject(refused)
    expect(await put('free/other', 200_000)).toMatchObject(exceeded)
    expect(await put('c/own?scope=user', 200_000)).toMatchObject(exceeded)
  })

  it('frees the space of a removed member', async () => {
    world = await startWorld({ storageQuotaBytes: QUOTA })
    const sub = await mintMember(world)
    await put('c/k', 100)
    await put('c/k?scope=user', 200, { sub })
    expect(await usage()).toEqual({ counted: 300, stored: 300 })
    await world.db.person.delete({ where: { id: sub } })
    expect(await usage()).toEqual({ counted: 100, stored: 100 })
  })
})

describe('a 413 of the storage tells the usage', () => {
  const world = useWorld({ storageQuotaBytes: QUOTA })
  beforeAll(async () => {
    await world.call('PUT', '/storage/c/k', { body: { value: 'x'.repeat(598) } })
  })

  const value = (bytes: number) => 'x'.repeat(bytes - 2)
  const readUsage = ({ status, headers }: Pick<Reply, 'status' | 'headers'>) => [
    status,
    headers['x-storage-used'],
    headers['x-storage-limit'],
  ]
  const refused = [413, '600', '1000']

  it('when the store is full', async () => {
    expect(readUsage(await world.call('PUT', '/storage/c/other', { body: { value: value(401) } }))).toEqual(refused)
    expect(readUsage(await world.call('PUT', '/storage/c/k', { body: { value: value(1001) } }))).toEqual(refused)
  })

  it('when the Content-Length is beyond the quota', async () => {
    const reply = await world.call('PUT', '/storage/c/other', { body: { value: value(QUOTA + 70_000) } })
    expect(readUsage(reply)).toEqual(refused)
  })

  it('when chunks are beyond the quota', async () => {
    const headers = {
      host: 'apps.test',
      authorization: `Bearer ${await world.token()}`,
      'content-type': 'application/json',
    }
    const sent = request({ port: world.publicPort, method: 'PUT', path: '/v1/storage/c/other', headers })
    sent.write('{"value":"')
    sent.end(`${value(QUOTA + 70_000)}"}`)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    expect(readUsage({ status: response.statusCode!, headers: response.headers })).toEqual(refused)
  })

  it('over tRPC, alone and in a batch', async () => {
    const headers = { authorization: `Bearer ${await world.token()}` }
    for (const bytes of [401, QUOTA + 70_000]) {
      const input = { collection: 'c', key: 'other', value: value(bytes) }
      for (const [path, body] of [
        ['storage.put', input],
        ['storage.put?batch=1', { 0: input }],
      ] as const) {
        expect(readUsage(await world.internal('POST', `/trpc/${path}`, { headers, body }))).toEqual(refused)
      }
    }
  })

  it('and so do a 412, and the 404 of a DELETE', async () => {
    const stale = { headers: { 'if-match': '"x"' } }
    const used = ['600', '1000']
    expect(readUsage(await world.call('PUT', '/storage/c/k', { body: { value: 1 }, ...stale }))).toEqual([412, ...used])
    expect(readUsage(await world.call('DELETE', '/storage/c/k', stale))).toEqual([412, ...used])
    expect(readUsage(await world.call('DELETE', '/storage/c/none'))).toEqual([404, ...used])
    const nothing = await startWorld({ storageQuotaBytes: QUOTA })
    onTestFinished(() => nothing.close())
    expect(readUsage(await nothing.call('DELETE', '/storage/c/none'))).toEqual([404, '0', '1000'])
  })

  it('but not of another refusal', async () => {
    const reply = await world.call('PUT', '/storage/c/other', { body: { value: 1, more: 1 } })
    expect(readUsage(reply)).toEqual([400, undefined, undefined])
    const scopeless = await world.call('PUT', '/storage/c/other', {
      body: { value: value(5000) },
      claims: { scope: '' },
    })
    expect(readUsage(scopeless)).toEqual([403, undefined, undefined])
    expect((await world.call('GET', '/storage/c')).body.total).toBe(1)
  })
})
