import { describe, expect, it } from 'vitest'
import { mintMember } from '../support/app-server.ts'
import { table } from '../support/markdown-table.ts'
import type { Call } from '../support/request.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { startWorld } from '../support/world.ts'

const world = useWorld()

const put = (path: string, value: unknown, options: Call = {}) =>
  world.call('PUT', `/storage/${path}`, { body: { value }, ...options })
const get = (path: string, options: Call = {}) => world.call('GET', `/storage/${path}`, options)
const remove = (path: string, options: Call = {}) => world.call('DELETE', `/storage/${path}`, options)
const keys = async (path: string) => (await get(path)).body.items.map((item: { key: string }) => item.key)

/** The limits of member-apps.md and decisions.md. */
const limits = table<'Request' | 'Answer'>(`
  | Request                               | Answer                                           |
  |---------------------------------------|--------------------------------------------------|
  | GET /limits                           | 200                                              |
  | GET /limits?limit=1                   | 200                                              |
  | GET /limits?limit=200                 | 200                                              |
  | GET /limits?limit=0                   | limit is 1 to 200.                               |
  | GET /limits?limit=201                 | limit is 1 to 200.                               |
  | GET /limits?limit=                    | limit is 1 to 200.                               |
  | GET /limits?limit=1&limit=1           | limit is 1 to 200.                               |
  | GET /limits?limit=1.0                 | limit is 1 to 200.                               |
  | GET /limits?limit=1e1                 | limit is 1 to 200.                               |
  | GET /limits?limit=007                 | limit is 1 to 200.                               |
  | GET /limits?limit=%2B5                | limit is 1 to 200.                               |
  | GET /limits?limit=-1                  | limit is 1 to 200.                               |
  | GET /limits?limit=all                 | limit is 1 to 200.                               |
  | GET /limits?limit=5%20                | limit is 1 to 200.                               |
  | GET /limits?offset=0                  | 200                                              |
  | GET /limits?offset=9007199254740991   | 200                                              |
  | GET /limits?offset=9007199254740993   | 200                                              |
  | GET /limits?offset=99999999999999999999999 | 200                                         |
  | GET /limits?limit=99999999999999999999999  | limit is 1 to 200.                          |
  | GET /limits?offset=-1                 | offset is 0 or more.                             |
  | GET /limits?offset=                   | offset is 0 or more.                             |
  | GET /limits?offset=0&offset=0         | offset is 0 or more.                             |
  | GET /limits?scope=org                 | 200                                              |
  | GET /limits?scope=user                | 200                                              |
  | GET /limits?scope=                    | scope is org or user.                            |
  | GET /limits?scope=Org                 | scope is org or user.                            |
  | GET /limits?scope=org&scope=org       | scope is org or user.                            |
  | GET /limits?scope=org&%73cope=org     | scope is org or user.                            |
  | GET /limits/k?scope=x                 | scope is org or user.                            |
  | GET /limits?unknown=1&__proto__=2     | 200                                              |
  | GET /limits??scope=x                  | 200                                              |
  | GET /limits??limit=0&&?offset=-1      | 200                                              |
  | GET /a.b?scope=x                      | Names use 1 to 64 letters, digits, '_' or '-'.   |
  | GET /%61                              | 200                                              |
  | GET /%zz                              | Names use 1 to 64 letters, digits, '_' or '-'.   |
  | GET /a%00                             | Names use 1 to 64 letters, digits, '_' or '-'.   |
  | GET /ä                                | Names use 1 to 64 letters, digits, '_' or '-'.   |
  | GET /a%2Fb                            | Names use 1 to 64 letters, digits, '_' or '-'.   |
  | PUT /limits/k?scope=club              | scope is org or user.                            |
  | PUT /limits/a.b                       | Names use 1 to 64 letters, digits, '_' or '-'.   |
  | DELETE /limits/a.b                    | Names use 1 to 64 letters, digits, '_' or '-'.   |
  | DELETE /limits/k?scope=               | scope is org or user.                            |
`)

describe('a storage request', () => {
  it.each(limits)('$Request returns: $Answer', async ({ Request, Answer }) => {
    const [method, path] = Request.split(' /')
    const body = method === 'PUT' ? { value: 1 } : undefined
    const reply = await world.call(method!, `/storage/${encodeURI(path!).replaceAll('%25', '%')}`, { body })
    if (Answer === '200') expect(reply.status).toBe(200)
    else expect([reply.status, reply.body]).toEqual([422, { detail: Answer }])
  })

  it.each([1, 64])('accepts names of length %i', async (length) => {
    const name = 'aZ0_-'.repeat(13).slice(0, length)
    expect(await put(`${name}/${name}`, 1)).toMatchObject({ status: 200, body: { key: name } })
    expect(await keys(name)).toEqual([name])
  })

  it('refuses names of length 65', async () => {
    const name = 'a'.repeat(65)
    for (const path of [`${name}/k`, `c65/${name}`]) {
      for (const reply of [await put(path, 1), await get(path), await remove(path)]) expect(reply.status).toBe(422)
    }
    expect(await keys('c65')).toEqual([])
  })

  it.each(['__proto__', 'constructor', 'toString'])('accepts the name %s', async (name) => {
    await put(`${name}/${name}`, { [name]: 1 })
    expect((await get(`${name}/${name}`)).body).toMatchObject({ key: name })
    expect(await keys(name)).toEqual([name])
  })
})

describe('an absent entry', () => {
  it('is created by PUT, which returns 200 with the entry', async () => {
    const before = world.now()
    const reply = await put('absent/k', { a: [1, null] })
    const after = world.now()
    expect([reply.status, reply.body]).toEqual([
      200,
      { key: 'k', value: { a: [1, null] }, updatedAt: expect.any(Number) },
    ])
    expect(reply.body.updatedAt).toBeGreaterThanOrEqual(before)
    expect(reply.body.updatedAt).toBeLessThanOrEqual(after)
    expect((await get('absent/k')).body).toEqual(reply.body)
  })

  it('returns 404 for GET and DELETE', async () => {
    for (const reply of [await get('absent/none'), await remove('absent/none')]) {
      expect([reply.status, reply.body]).toEqual([404, { detail: 'This key does not exist.' }])
    }
  })
})

describe('a present entry', () => {
  it('is replaced by PUT, with a new updatedAt', async () => {
    const own = await startWorld()
    const call = (body?: unknown) => own.call(body ? 'PUT' : 'GET', '/storage/c/k', { body })
    const first = await call({ value: 1 })
    own.advance(90)
    const second = await call({ value: 2 })
    expect(second.body.updatedAt - first.body.updatedAt).toBeGreaterThanOrEqual(90)
    expect((await call()).body).toEqual({ key: 'k', value: 2, updatedAt: second.body.updatedAt })
    await own.close()
  })

  it('is removed by DELETE, which returns 204 without a body', async () => {
    await put('present/k', 1)
    const reply = await remove('present/k')
    expect([reply.status, reply.text, reply.headers['content-type']]).toEqual([204, '', undefined])
    expect((await get('present/k')).status).toBe(404)
    expect((await remove('present/k')).status).toBe(404)
  })
})

describe('the body of a PUT', () => {
  it.each([
    ['', 'value is missing.'],
    ['[]', 'value is missing.'],
    ['"value"', 'value is missing.'],
    ['null', 'value is missing.'],
    ['{}', 'value is missing.'],
    ['{"Value":1}', 'value is missing.'],
    ['{"more":1}', 'value is missing.'],
    ['{"value":1,"more":2}', 'The body has exactly one field, value.'],
    ['{"more":1,"value":2}', 'The body has exactly one field, value.'],
    ['{"value":1,"value":1}', 'The body has exactly one field, value.'],
    ['{"value":1,"scope":"user"}', 'The body has exactly one field, value.'],
    ['{"value":}', 'The body is not valid JSON.'],
    ['{"value":1} x', 'The body is not valid JSON.'],
    ["{'value':1}", 'The body is not valid JSON.'],
    ['{"value":NaN}', 'The body is not valid JSON.'],
    [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 'The body is not valid JSON.'],
    [`{"value":${'{"a":'.repeat(257)}1${'}'.repeat(257)}}`, 'value is nested too deeply.'],
  ])('refuses %s and stores nothing', async (body, detail) => {
    const reply = await world.call('PUT', '/storage/bodies/k', { body })
    expect([reply.status, reply.body]).toEqual([400, { detail }])
    expect(await keys('bodies')).toEqual([])
    expect(await keys('bodies?scope=user')).toEqual([])
  })

  it('may spell its field with escapes', async () => {
    const reply = await world.call('PUT', '/storage/escaped/k', { body: '{"\\u0076alue":7}' })
    expect(reply.body).toMatchObject({ value: 7 })
  })

  it.each([
    ['application/json; charset=utf-8', 200],
    ['Application/JSON;charset="UTF-8"', 200],
    ['application/json; charset=latin1', 415],
    ['application/json-patch+json', 415],
    ['text/plain', 415],
  ])('of type %s returns %i', async (type, status) => {
    const reply = await world.call('PUT', `/storage/types/k${status}`, {
      body: '{"value":1}',
      headers: { 'content-type': type },
    })
    expect(reply.status).toBe(status)
    expect((await get(`types/k${status}`)).status).toBe(status === 200 ? 200 : 404)
  })

  it('is not looked at where the name is wrong', async () => {
    for (const [path, wrong] of [
      ['/storage/a.b/k', 'Names'],
      ['/storage/c/k?scope=all', 'scope'],
    ]) {
      const reply = await world.call('PUT', path!, { body: 'x', headers: { 'content-type': 'text/plain' } })
      expect([reply.status, reply.body.detail]).toEqual([422, expect.stringContaining(wrong!)])
    }
  })
})

describe('a list', () => {
  it('is sorted by the bytes of the keys, and paged', async () => {
    const own = ['_x', '-y', '10', '9', 'A', 'B', 'Z', '_', 'a', 'a-b', 'a_b', 'ab', 'b']
    await Promise.all(own.map((key) => put(`sorted/${key}`, key)))
    const sorted = ['-y', '10', '9', 'A', 'B', 'Z', '_', '_x', 'a', 'a-b', 'a_b', 'ab', 'b']
    expect(await keys('sorted')).toEqual(sorted)
    const page = await get('sorted?limit=4&offset=3')
    expect(page.body).toMatchObject({ total: 13, items: [{ key: 'A' }, { key: 'B' }, { key: 'Z' }, { key: '_' }] })
    const later = await get('sorted?limit=4&offset=8')
    expect(later.body).toMatchObject({
      total: 13,
      items: [{ key: 'a' }, { key: 'a-b' }, { key: 'a_b' }, { key: 'ab' }],
    })
    expect((await get('sorted?offset=13')).body).toEqual({ items: [], total: 13 })
  })

  it('returns 50 entries by default and up to 200', async () => {
    for (let i = 0; i < 220; i += 44) {
      await Promise.all(Array.from({ length: 44 }, (_, n) => put(`many/k${String(i + n).padStart(3, '0')}`, i)))
    }
    const [usual, most] = [await get('many'), await get('many?limit=200')]
    expect([usual.body.items.length, usual.body.total]).toEqual([50, 220])
    expect([most.body.items.length, most.body.items[199].key]).toEqual([200, 'k199'])
  })

  it('is empty for an unknown collection', async () => {
    expect((await get('unknown-collection')).body).toEqual({ items: [], total: 0 })
  })
})

describe('the owner of an entry', () => {
  it('is the app: its clients share entries, other apps do not see them', async () => {
    const { db, ids } = world
    const [second, other, otherApp] = [id('client'), id('client'), id('app')]
    await db.app.create({ data: { id: otherApp, name: 'Other', teamId: ids.team, providerId: ids.provider } })
    for (const [client, app] of [
      [second, ids.app],
      [other, otherApp],
    ] as const) {
      await db.client.create({
        data: { id: client, name: 'C', teamId: ids.team, appId: app, environment: 'production' },
      })
    }
    await put('owner/k', 'shared')
    expect((await get('owner/k', { claims: { client_id: second } })).body.value).toBe('shared')
    expect((await get('owner/k', { claims: { client_id: other } })).status).toBe(404)
    expect((await remove('owner/k', { claims: { client_id: other } })).status).toBe(404)
    expect((await get('owner', { claims: { client_id: other } })).body.total).toBe(0)
  })

  it('is the club: another club of the same member has its own entries', async () => {
    const { db, ids } = world
    const club = id('club')
    await db.organisation.create({ data: { id: club, kind: 'club', name: 'Second' } })
    await db.membership.create({ data: { organisationId: club, personId: ids.member } })
    await put('clubs/k', 1)
    expect((await get('clubs/k', { claims: { organisation: club } })).status).toBe(404)
    await put('clubs/k', 2, { claims: { organisation: club } })
    expect((await get('clubs/k')).body.value).toBe(1)
  })

  it('is the member with scope=user; both scopes may use one key', async () => {
    const sub = await mintMember(world)
    await put('scopes/k', 'org')
    await put('scopes/k?scope=user', 'mine')
    await put('scopes/only-mine?scope=user', 'mine')
    const other = { claims: { sub } }
    expect((await get('scopes/k')).body.value).toBe('org')
    expect((await get('scopes/k?scope=org', other)).body.value).toBe('org')
    expect((await get('scopes/k?scope=user')).body.value).toBe('mine')
    expect((await get('scopes/k?scope=user', other)).status).toBe(404)
    expect(await keys('scopes')).toEqual(['k'])
    expect(await keys('scopes?scope=user')).toEqual(['k', 'only-mine'])
    expect((await remove('scopes/k?scope=user', other)).status).toBe(404)
    await remove('scopes/k?scope=user')
    expect((await get('scopes/k')).status).toBe(200)
  })
})

describe('an ETag', () => {
  it('is strong, new with every write and never reused after a delete', async () => {
    const seen = new Set<string>()
    for (let i = 0; i < 3; i++) {
      const written = await put('etag/k', 'same')
      expect(written.headers.etag).toMatch(/^"[^"]+"$/)
      expect((await get('etag/k')).headers.etag).toBe(written.headers.etag)
      seen.add(written.headers.etag!)
      if (i === 1) await remove('etag/k')
    }
    expect(seen.size).toBe(3)
  })

  it('in If-None-Match of GET returns 304 until the entry changes', async () => {
    const { headers } = await put('etag/cached', 1)
    const conditional = { headers: { 'if-none-match': `"x", W/${headers.etag}` } }
    expect(await get('etag/cached', conditional)).toMatchObject({
      status: 304,
      text: '',
      headers: { etag: headers.etag },
    })
    await put('etag/cached', 2)
    expect(await get('etag/cached', conditional)).toMatchObject({ status: 200 })
  })

  const changed = { status: 412, body: { detail: 'This entry has changed.' } }

  it('in If-Match of GET returns 412 unless it is the current one', async () => {
    const { headers } = await put('etag/read', 1)
    const of = (tag: string) => get('etag/read', { headers: { 'if-match': tag } })
    for (const tag of [headers.etag!, `"x", ${headers.etag}`, '*'])
      expect((await of(tag)).body).toMatchObject({ value: 1 })
    for (const tag of ['"x"', `W/${headers.etag}`, 'no tag']) expect(await of(tag)).toMatchObject(changed)
    expect((await get('etag/none-to-read', { headers: { 'if-match': '"x"' } })).status).toBe(404)
    // If-Match comes first (RFC 9110, 13.2.2).
    const both = { 'if-match': '"x"', 'if-none-match': headers.etag! }
    expect(await get('etag/read', { headers: both })).toMatchObject(changed)
  })

  it('in If-Match returns 412 when it is stale', async () => {
    const { headers } = await put('etag/match', 1)
    const conditional = { headers: { 'if-match': headers.etag!, 'content-type': 'application/json' } }
    expect(await put('etag/match', 2, { body: { value: 2 }, ...conditional })).toMatchObject({ status: 200 })
    expect(await put('etag/match', 3, { body: { value: 3 }, ...conditional })).toMatchObject(changed)
    expect(await remove('etag/match', { headers: { 'if-match': headers.etag! } })).toMatchObject(changed)
    expect((await get('etag/match')).body.value).toBe(2)
    expect(await remove('etag/match', { headers: { 'if-match': '*' } })).toMatchObject({ status: 204 })
  })

  it('in If-Match returns 412 for an absent key and for a weak tag', async () => {
    expect(await put('etag/none', 1, { headers: { 'if-match': '*' } })).toMatchObject(changed)
    expect(await put('etag/none', 1, { headers: { 'if-match': '"x"' } })).toMatchObject(changed)
    expect(await remove('etag/none', { headers: { 'if-match': '"x"' } })).toMatchObject(changed)
    expect((await get('etag/none')).status).toBe(404)
    const { headers } = await put('etag/weak', 1)
    expect(await put('etag/weak', 2, { headers: { 'if-match': `W/${headers.etag}` } })).toMatchObject(changed)
    expect(await put('etag/weak', 2, { headers: { 'if-match': 'no tag' } })).toMatchObject(changed)
    expect((await get('etag/weak')).body.value).toBe(1)
  })

  it('in If-None-Match: * lets PUT create an entry, and nothing else', async () => {
    const create = { headers: { 'if-none-match': '*' } }
    expect(await put('etag/new', 1, create)).toMatchObject({ status: 200 })
    expect(await put('etag/new', 2, create)).toMatchObject(changed)
    expect(await remove('etag/new', create)).toMatchObject(changed)
    expect((await get('etag/new')).body.value).toBe(1)
    expect(await remove('etag/absent', create)).toMatchObject({ status: 404 })
  })

  it('in If-None-Match makes PUT and DELETE 412 while it is the current one', async () => {
    const { headers } = await put('etag/current', 1)
    const conditional = { headers: { 'if-none-match': headers.etag! } }
    expect(await put('etag/current', 2, conditional)).toMatchObject(changed)
    expect(await remove('etag/current', conditional)).toMatchObject(changed)
    expect(await put('etag/current', 2, { headers: { 'if-none-match': `"x", W/${headers.etag}` } })).toMatchObject(
      changed,
    )
    expect(await get('etag/current')).toMatchObject({
      status: 200,
      headers: { etag: headers.etag },
      body: { value: 1 },
    })
    const other = { headers: { 'if-none-match': '"00000000-0000-4000-8000-000000000000"' } }
    expect(await put('etag/current', 2, other)).toMatchObject({ status: 200 })
    expect(await remove('etag/current', conditional)).toMatchObject({ status: 204 })
  })

  it('in If-None-Match: * lets one of twenty concurrent writers create the entry', async () => {
    const create = { headers: { 'if-none-match': '*' } }
    const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => put('etag/race', i, create)))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(412)])
  })
})
