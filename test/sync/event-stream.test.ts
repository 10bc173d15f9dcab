import { fetchEventSource } from '@microsoft/fetch-event-source'
import { EventSource } from 'eventsource'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { callAs } from '../../routers/core.ts'
import { mintMember } from '../support/app-server.ts'
import { openChanges } from '../support/event-stream.ts'
import { expireCursors } from '../support/expired-cursors.ts'
import { fakeBeats } from '../support/fake-beats.ts'
import { localUrlsAt } from '../support/local-urls.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'

const SCOPE = 'svc.apps.storage:read'
const world = useWorld()
let collection: string
beforeEach(() => {
  collection = id('c')
})

const put = async (key: string, value: unknown, scope = 'org') => {
  const body = typeof value === 'string' ? value : { value }
  const reply = await world.call('PUT', `/storage/${collection}/${key}?scope=${scope}`, { body })
  expect(reply.status).toBe(200)
  return reply.headers.etag
}
const remove = (key: string) => world.call('DELETE', `/storage/${collection}/${key}`)

type Options = Parameters<typeof openChanges>[2]
const open = (options?: Options) => openChanges(world, collection, options)
const readRefusal = (options: Options) => open(options).catch((refusal: unknown) => refusal)
const refused = (status: number, code: string, message: string) => ({
  status,
  body: { error: { code, message, request_id: expect.any(String) } },
})

describe('GET /collections/{collection}/changes with Accept: text/event-stream', () => {
  it('sends the entries, then each change as it happens', async () => {
    const etag = await put('a', { n: 1 })
    const stream = await open()
    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'private, no-store',
      'x-accel-buffering': 'no',
      'access-control-allow-origin': '*',
    })
    const [first] = await stream.take(1)
    expect(first!.data).toEqual({ key: 'a', value: { n: 1 }, updatedAt: expect.any(Number), etag })
    await put('b', '{"value":{"b":1.0,\r\n "b":"\\u0000","a":1e400}}')
    const [second] = await stream.take(1)
    expect(second!.text).toContain('"value":{"b":1.0,   "b":"\\u0000","a":1e400},')
    await remove('a')
    const [third] = await stream.take(1)
    expect(third!.data).toEqual({ key: 'a', updatedAt: expect.any(Number), deleted: true })
    expect(stream.others).toEqual([expect.stringMatching(/^retry: [12]\d{3}$/)])
    stream.close()
    await expect.poll(() => world.longPollSlots.size).toBe(0)
  })

  it('resumes after the event of Last-Event-ID, in place of since, and after a page of the JSON answer', async () => {
    for (const key of ['a', 'b', 'c']) await put(key, 1)
    const stream = await open()
    const [a] = await stream.take(2)
    stream.close()
    await remove('c')
    const resumed = await open({ query: '?since=x', headers: { 'last-event-id': a!.id } })
    expect((await resumed.take(2)).map(({ data }) => [data.key, data.deleted])).toEqual([
      ['b', undefined],
      ['c', true],
    ])
    resumed.close()
    // As event-source-polyfill sends it.
    for (const options of [
      { query: `?lastEventId=${encodeURIComponent(a!.id)}` },
      { query: '?lastEventId=x', headers: { 'last-event-id': a!.id } },
    ]) {
      const polyfilled = await open(options)
      expect((await polyfilled.take(1))[0]!.data).toMatchObject({ key: 'b' })
      polyfilled.close()
    }
    const { cursor } = (await world.call('GET', `/collections/${collection}/changes`)).body
    const following = await open({ query: `?since=${cursor}` })
    await put('d', 1)
    const [d] = await following.take(1)
    expect(d!.data).toMatchObject({ key: 'd' })
    const page = await world.call('GET', `/collections/${collection}/changes?since=${d!.id}`)
    expect(page.body.items).toEqual([])
    following.close()
  })

  it('sends more entries than a page has, and values of megabytes, once each and in order', async () => {
    const keys = Array.from({ length: 250 }, (_, i) => `k${1_000 + i}`)
    await Promise.all(keys.map((key) => put(key, 1)))
    await put(
      'z',
      'x'.repeat(3_000_000).replace(/^.*$/, (text) => `{"value":"${text}ü"}`),
    )
    const stream = await open()
    const events = await stream.take(251)
    expect(events.map(({ data }) => data.key)).toEqual([...keys, 'z'])
    expect(events.at(-1)!.data.value).toHaveLength(3_000_001)
    await expect.poll(() => world.memory.freeBytes).toBe(free)
    stream.close()
  })
  let free: number
  beforeEach(() => {
    free = world.memory.freeBytes
  })

  it('shows private entries to their member alone', async () => {
    const sub = await mintMember(world)
    const own = await open({ query: '?scope=user' })
    const other = await open({ query: '?scope=user', claims: { sub } })
    const shared = await open()
    await put('secret', 1, 'user')
    await put('open', 1)
    expect((await own.take(1))[0]!.data.key).toBe('secret')
    const [event] = await shared.take(1)
    expect(event!.data.key).toBe('open')
    const { body } = await world.call('PUT', `/storage/${collection}/mine?scope=user`, {
      body: { value: 2 },
      claims: { sub },
    })
    expect(body.value).toBe(2)
    const [mine] = await other.take(1)
    expect(mine!.data.key).toBe('mine')
    for (const stream of [own, other, shared]) stream.close()
    const wrong = refused(400, 'invalid_request', 'since is not a cursor of this collection.')
    expect(await readRefusal({ headers: { 'last-event-id': mine!.id }, query: '?scope=user' })).toMatchObject(wrong)
  })

  it.each([
    ['an invented id', { headers: { 'last-event-id': 'MA' } }],
    ['one of 501 characters', { headers: { 'last-event-id': 'M'.repeat(501) } }],
    ['a cursor of another collection', {}],
  ])('refuses %s before it begins', async (_, options) => {
    const { cursor } = (await world.call('GET', `/collections/${id('other')}/changes`)).body
    const wrong = refused(400, 'invalid_request', 'since is not a cursor of this collection.')
    expect(await readRefusal({ query: `?since=${cursor}`, ...options })).toMatchObject(wrong)
    expect(world.longPollSlots.size).toBe(0)
  })

  it('refuses a cursor that has expired, and a token without the scope', async () => {
    await put('a', 1)
    const stream = await open()
    const [{ id: last } = { id: '' }] = await stream.take(1)
    stream.close()
    await expireCursors(world.db, world.ids)
    const expired = refused(410, 'cursor_expired', 'This cursor has expired. Begin again without since.')
    expect(await readRefusal({ headers: { 'last-event-id': last } })).toMatchObject(expired)
    expect(await readRefusal({ claims: { scope: 'svc.me.profile:read' } })).toMatchObject({ status: 403 })
    await expect.poll(() => world.longPollSlots.size).toBe(0)
  })

  it('is one of five of its member and app, with the requests that wait', async () => {
    const streams = await Promise.all([1, 2, 3, 4, 5].map(() => open()))
    const full = refused(429, 'rate_limited', 'Too many requests of this member, app or team already wait for changes.')
    expect(await readRefusal({})).toMatchObject(full)
    const other = await open({ claims: { sub: await mintMember(world) } })
    streams[0]!.close()
    await expect.poll(() => world.longPollSlots.size).toBe(5)
    const next = await open()
    for (const stream of [...streams, other, next]) stream.close()
    await expect.poll(() => world.longPollSlots.size).toBe(0)
  })

  it('is sent to clients that accept it in UTF-8 first, also beside anything', async () => {
    for (const range of ['text/event-stream; charset=utf-8', 'text/event-stream;charset=utf-8, */*;q=0.1']) {
      const stream = await open({ headers: { accept: range } })
      expect(stream.headers['content-type']).toBe('text/event-stream; charset=utf-8')
      stream.close()
    }
  })

  it('is JSON for clients that accept anything', async () => {
    const reply = await world.call('GET', `/collections/${collection}/changes`, { headers: { accept: '*/*' } })
    expect(reply.body).toMatchObject({ items: [], more: false })
  })

  it('is answered by its headers alone to HEAD', async () => {
    const path = `/collections/${collection}/changes`
    const reply = await world.call('HEAD', path, { headers: { accept: 'text/event-stream' } })
    expect([reply.status, reply.text]).toEqual([200, ''])
  })
})

describe('a stream', () => {
  it('ends with its token', async () => {
    const stream = await open({ claims: { exp: world.now() + 60 } })
    world.advance(61)
    await world.core.accessWatch.check()
    await stream.ended
  })

  it('sends nothing after its token has ended', async () => {
    const stream = await open({ claims: { exp: world.now() + 60 } })
    world.advance(61)
    await put('late', 1)
    await expect(stream.take(1)).rejects.toThrow('has ended')
  })

  it.each([
    [
      'its member has left',
      (sub: string) => world.db.membership.delete({ where: { of: { organisationId: world.ids.club, personId: sub } } }),
    ],
    ['its app is suspended', () => world.db.app.update({ where: { id: world.ids.app }, data: { state: 'suspended' } })],
  ])('ends when %s, and others go on', async (_, end) => {
    const sub = await mintMember(world)
    const stream = await open({ claims: { sub } })
    await world.core.accessWatch.check()
    await put('before', 1)
    await stream.take(1)
    await end(sub)
    await world.core.accessWatch.check()
    await stream.ended
    await world.db.app.update({ where: { id: world.ids.app }, data: { state: 'active' } })
  })

  it('ends when the consent behind its token is withdrawn, and not before', async () => {
    const { db, ids } = world
    const [personId, grant] = [await mintMember(world), id('grant')]
    const data = { id: grant, personId, organisationId: ids.club, clientId: ids.client, scopes: [SCOPE] }
    await db.consent.create({ data })
    const events = await callAs(world.core, world.principal({ member: personId, grant })).storage.watch({ collection })
    const reading = events[Symbol.asyncIterator]()
    await world.core.accessWatch.check()
    const first = reading.next()
    await put('a', 1)
    expect((await first).value).toMatchObject({ data: { key: 'a' } })
    const next = reading.next()
    await db.consent.update({ where: { id: grant }, data: { withdrawnAt: new Date() } })
    await world.core.accessWatch.check()
    await expect(next).rejects.toThrow('aborted')
  })

  it('ends when the client leaves, without a change', async () => {
    const stream = await open()
    expect(world.longPollSlots.size).toBe(1)
    stream.close()
    await expect.poll(() => world.longPollSlots.size).toBe(0)
    expect(world.core.watch.size).toBe(0)
  })
})

describe('a stream of a collection at rest', () => {
  it('has an id for the changes beside it, after which it goes on when they are no longer stored', async () => {
    await expect.poll(() => world.longPollSlots.size).toBe(0)
    const beat = fakeBeats()
    await put('a', 1)
    const stream = await open()
    const [a] = await stream.take(1)
    beat()
    await expect.poll(stream.rest).toBe(':\n')
    await world.call('PUT', `/storage/${id('other')}/k`, { body: { value: 1 } })
    const read = () => {
      beat()
      return stream.rest()
    }
    await expect.poll(read).toMatch(/\nid: .+\n/)
    const [, position] = /^id: (.+)$/m.exec(stream.rest())!
    await expect.poll(read).toMatch(/id: .+\n(?::\n){3}/)
    expect(stream.rest().match(/id: /g)).toHaveLength(1)
    const { app: appId, club: clubId } = world.ids
    const { changes } = await world.db.storageUsage.findUniqueOrThrow({ where: { of: { appId, clubId } } })
    await world.db.storageUsage.update({ where: { of: { appId, clubId } }, data: { horizon: changes } })

    await put('b', 2)
    expect((await stream.take(1))[0]!.data).toMatchObject({ key: 'b' })
    stream.close()
    expect(await readRefusal({ headers: { 'last-event-id': a!.id } })).toMatchObject({ status: 410 })
    const resumed = await open({ headers: { 'last-event-id': position! } })
    expect((await resumed.take(1))[0]!.data).toMatchObject({ key: 'b' })
    resumed.close()
  })

  it('has no id before its first one: its client begins again with the entries', async () => {
    await expect.poll(() => world.longPollSlots.size).toBe(0)
    const beat = fakeBeats()
    const { cursor } = (await world.call('GET', `/collections/${collection}/changes`)).body
    const [without, since] = [await open(), await open({ query: `?since=${cursor}` })]
    await world.call('PUT', `/storage/${id('other')}/k`, { body: { value: 1 } })
    const read = () => {
      beat()
      return since.rest()
    }
    await expect.poll(read).toContain('\nid: ')
    await put('a', 1)
    await without.take(1)
    expect(without.others.filter((line) => line.startsWith('id: '))).toEqual([])
    for (const stream of [without, since]) stream.close()
  })
})

describe('a service that stops', () => {
  it('ends its streams, which say when to return', async () => {
    const stream = await open()
    world.longPollSlots.end()
    await stream.ended
    expect(stream.others[0]).toMatch(/^retry: /)
  })
})

const localWorld = useWorld({
  localUrls: localUrlsAt('http://localhost:3000'),
})

/** Opens the changes of a collection, and calls `seen` with the data of each event. */
type Open = (url: string, headers: Record<string, string>, seen: (data: string) => void) => { close: () => void }

const clients: [name: string, open: Open][] = [
  [
    'fetch-event-source',
    (url, headers, seen) => {
      const controller = new AbortController()
      vi.stubGlobal('window', globalThis)
      vi.stubGlobal('document', new EventTarget())
      const { signal } = controller
      void fetchEventSource(url, { headers, signal, openWhenHidden: true, onmessage: ({ data }) => seen(data) })
      return { close: () => controller.abort() }
    },
  ],
  [
    'eventsource',
    (url, own, seen) => {
      const source = new EventSource(url, {
        fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, ...own } }),
      })
      source.onmessage = ({ data }) => seen(data as string)
      return source
    },
  ],
]

describe.each(clients)('the changes of a collection in %s', (_, open) => {
  it('are the changes alone, over one connection', async () => {
    const [collection, seen] = [id('c'), [] as { key: string; value: number }[]]
    const put = (key: string, value: number) =>
      localWorld.call('PUT', `/storage/${collection}/${key}`, { body: { value } })
    await put('a', 1)
    const authorization = `Bearer ${await localWorld.token({ organisation: localWorld.ids.club })}`
    const url = `http://127.0.0.1:${localWorld.publicPort}/sync/v1/collections/${collection}/changes`
    // As an app does: an event without data would throw, and the client would connect again.
    const stream = open(url, { authorization }, (data) => seen.push(JSON.parse(data)))
    onTestFinished(() => {
      stream.close()
      vi.unstubAllGlobals()
    })
    await expect.poll(() => seen).toMatchObject([{ key: 'a', value: 1 }])
    for (const key of ['b', 'c', 'd']) await put(key, 2)
    await expect.poll(() => seen.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'd'])
    expect(localWorld.longPollSlots.size).toBe(1)
    stream.close()
    await expect.poll(() => localWorld.longPollSlots.size).toBe(0)
  })
})
