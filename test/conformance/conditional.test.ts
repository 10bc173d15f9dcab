import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { etag as quoted } from '../../routers/storage/entry.ts'
import { startAuthWorld } from '../oauth/auth-world.ts'
import type { Reply } from '../support/request.ts'
import { send } from '../support/request.ts'
import { times } from '../support/rounds.ts'
import { startedAround } from '../support/started.ts'

const auth = startedAround(() => startAuthWorld())
const ENTRY = '/storage/conditional/entry'

type Headers = Record<string, string>

const at =
  (host: string, path: string) =>
  (headers: Headers, method = 'GET') =>
    send(auth.world.publicPort, method, path, { headers: { host, ...headers } })

beforeAll(async () => void (await auth.world.call('PUT', ENTRY, { body: { value: 1 } })))

/** What has an ETag. */
const resources: [name: string, get: (headers: Headers, method?: string) => Promise<Reply>][] = [
  ['a stored entry', (headers, method = 'GET') => auth.world.call(method, ENTRY, { headers })],
  ['the OpenAPI document', at('apps.test', '/v1/openapi.json')],
  ['a page of the documentation', at('apps.test', '/docs/apps')],
  ['the style of the documentation', at('apps.test', '/docs/style.css')],
  ['a picture of the documentation', at('apps.test', '/docs/images/sign-in.png')],
  ['the reference', at('lms.test', '/v1/docs')],
]

/** Values of If-None-Match, and the status (RFC 9110, 13.1.2). */
const noneMatch: [name: string, of: (etag: string) => string, status: number][] = [
  ['the ETag', (etag) => etag, 304],
  ['the ETag that a proxy made weak', (etag) => `W/${etag}`, 304],
  ['*', () => '*', 304],
  ['a list with it', (etag) => `"x", W/"y",${etag}`, 304],
  ['a list with empty elements', (etag) => `, ${etag},`, 304],
  ['a list after a tag with a comma', (etag) => `"x, y", ${etag}`, 304],
  ['another tag', () => '"x"', 200],
  ['a tag that contains it', (etag) => `"x, ${etag.slice(1, -1)}"`, 200],
  ['the tag without quotation marks', (etag) => etag.slice(1, -1), 200],
  ['a small w/', (etag) => `w/${etag}`, 200],
  ['* in a list', (etag) => `*, ${etag}`, 200],
  ['tags without a comma', (etag) => `"x" ${etag}`, 200],
  ['nothing', () => '', 200],
]

describe.each(resources)('%s', (_, get) => {
  it.each(noneMatch)('with If-None-Match: %s', async (_, of, status) => {
    const { headers } = await get({})
    for (const method of ['GET', 'HEAD']) {
      const reply = await get({ 'if-none-match': of(headers.etag!) }, method)
      expect([reply.status, reply.headers.etag]).toEqual([status, headers.etag])
      if (status === 304 || method === 'HEAD') expect(reply.text).toBe('')
      for (const name of ['cache-control', 'vary']) expect(reply.headers[name]).toBe(headers[name])
    }
  })

  it.each([
    ['Cache-Control: no-cache', { 'cache-control': 'no-cache' }],
    ['Cache-Control: max-age=0, no-store', { 'cache-control': 'max-age=0, no-store' }],
    ['Pragma: no-cache', { pragma: 'no-cache' }],
    ['If-Modified-Since: a later time', { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' }],
    ['If-Modified-Since: an earlier time', { 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }],
    ['If-Modified-Since: no time', { 'if-modified-since': 'nonsense' }],
  ])('decides by If-None-Match alone beside %s', async (_, beside) => {
    const { headers } = await get({})
    expect((await get({ 'if-none-match': headers.etag!, ...beside })).status).toBe(304)
    expect((await get({ 'if-none-match': '"x"', ...beside })).status).toBe(200)
    expect((await get({ ...beside } as Headers)).status).toBe(200)
  })
})

describe('a response with an ETag', () => {
  it.each(resources)('keeps proxies from changing it: %s', async (_, get) => {
    const { headers } = await get({})
    for (const reply of [await get({}, 'HEAD'), await get({ 'if-none-match': '*' }), await get({})]) {
      expect(reply.headers.etag).toBe(headers.etag)
      expect(reply.headers['cache-control']!.split(', ')).toContain('no-transform')
    }
  })

  it('keeps proxies from changing it: PUT of an entry', async () => {
    const { headers } = await auth.world.call('PUT', ENTRY, { body: { value: 1 } })
    expect(headers['cache-control']).toBe('private, no-cache, no-transform')
    const { headers: refused } = await auth.world.call('PUT', ENTRY, {
      headers: { 'if-match': '"x"' },
      body: { value: 1 },
    })
    expect([refused.etag, refused['cache-control']]).toEqual([undefined, 'private, no-cache'])
  })
})

describe('a style sheet', () => {
  it("is 304 for Node's fetch, which sends Cache-Control: no-cache by itself", async () => {
    const url = `http://127.0.0.1:${auth.world.publicPort}/docs/style.css`
    const { headers } = await fetch(url)
    const again = await fetch(url, { headers: { 'if-none-match': headers.get('etag')! } })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })
})

describe('a stored entry', () => {
  /** Values of If-Match, and whether they are met (RFC 9110, 13.1.1). */
  const match: [name: string, of: (etag: string) => string, met: boolean][] = [
    ['the ETag', (etag) => etag, true],
    ['*', () => '*', true],
    ['a list with it', (etag) => `"x", W/"y",${etag}`, true],
    ['a list after a tag with a comma', (etag) => `"x, y", ${etag}`, true],
    ['the ETag that a proxy made weak', (etag) => `W/${etag}`, false],
    ['a small w/', (etag) => `w/${etag}`, false],
    ['another tag', () => '"x"', false],
    ['a tag that contains it', (etag) => `"x, ${etag.slice(1, -1)}"`, false],
    ['the tag without quotation marks', (etag) => etag.slice(1, -1), false],
    ['* in a list', (etag) => `*, ${etag}`, false],
    ['tags without a comma', (etag) => `"x" ${etag}`, false],
    ['nothing', () => '', false],
  ]

  it.each(match)('with If-Match: %s', async (_, of, met) => {
    const { world } = auth
    const { headers: first } = await world.call('PUT', ENTRY, { body: { value: 1 } })
    const get = await world.call('GET', ENTRY, { headers: { 'if-match': of(first.etag!) } })
    const put = await world.call('PUT', ENTRY, { headers: { 'if-match': of(first.etag!) }, body: { value: 2 } })
    expect([get.status, put.status]).toEqual(met ? [200, 200] : [412, 412])
    const now = put.headers.etag ?? first.etag!
    const deleted = await world.call('DELETE', ENTRY, { headers: { 'if-match': of(now) } })
    expect(deleted.status).toBe(met ? 204 : 412)
    const left = await world.call('GET', ENTRY)
    expect(met ? left.status : left.body.value).toBe(met ? 404 : 1)
    // Without an entry none is met.
    const absent = '/storage/conditional/absent'
    const headers = { 'if-match': of(quoted('5c0f5bd7-8a0f-4c5e-b9f4-1d6d3a1e7c20')) }
    for (const method of ['PUT', 'DELETE']) {
      const refused = await world.call(method, absent, { headers, ...(method === 'PUT' && { body: { value: 1 } }) })
      expect([refused.status, refused.body]).toEqual([412, { detail: 'This entry has changed.' }])
    }
    expect((await world.call('GET', absent)).status).toBe(404)
  })

  it.each([
    ['the ETag that a proxy made weak', (etag: string) => `W/${etag}`, 412],
    ['a list with it', (etag: string) => `"a,b", ${etag}`, 412],
    ['*', () => '*', 412],
    ['another tag', () => '"x"', 200],
    ['no list of tags', (etag: string) => `x ${etag}`, 200],
  ])('is written with If-None-Match: %s', async (_, of, status) => {
    const { headers } = await auth.world.call('PUT', ENTRY, { body: { value: 1 } })
    const conditional = { headers: { 'if-none-match': of(headers.etag!) }, body: { value: 2 } }
    expect((await auth.world.call('PUT', ENTRY, conditional)).status).toBe(status)
    expect((await auth.world.call('GET', ENTRY)).body.value).toBe(status === 200 ? 2 : 1)
  })

  it('takes the header on several lines as one list', async () => {
    const { headers } = await auth.world.call('PUT', ENTRY, { body: { value: 1 } })
    const lines = { 'if-none-match': ['"x"', headers.etag!] }
    expect((await auth.world.call('GET', ENTRY, { headers: lines })).status).toBe(304)
  })
})

const preflight = (host: string, path: string, method: string, names: string | string[] = '') =>
  send(auth.world.publicPort, 'OPTIONS', path, {
    headers: {
      host,
      origin: 'https://app.example',
      'access-control-request-method': method,
      ...(names !== '' && { 'access-control-request-headers': names }),
    },
  })

/** As a browser compares them (Fetch, 4.8). */
const allowed = ({ headers }: Awaited<ReturnType<typeof send>>) => ({
  methods: headers['access-control-allow-methods']!.split(', '),
  names: headers['access-control-allow-headers']!.split(', ').map((name) => name.toLowerCase()),
})

const passes = {
  status: 204,
  text: '',
  headers: { 'access-control-allow-origin': '*', 'access-control-max-age': '600' },
}

const places: [host: string, path: string][] = [
  ['apps.test', '/v1/storage/c/k'],
  ['apps.test', '/v1/storage/c/k%2F/more'],
  ['apps.test', '/v1/nothing'],
  ['apps.test', '/'],
  ['apps.test', '/v1/openapi.json'],
  ['apps.test', '/v1/docs'],
  ['apps.test', '/docs'],
  ['apps.test', '/v1/oauth/token'],
  ['lms.test', '/v1/quizzes/q/results'],
  ['lms.test', '/v1/me/profile'],
  ['notify.test', '/v1/apps/a/webhook'],
  ['sync.test', '/v1/collections'],
  ['elsewhere.test', '/v1/me/profile'],
  ['elsewhere.test', '/anything?at=all'],
  ['auth.test', '/v1/oauth/token'],
  ['auth.test', '/v1/oauth/userinfo'],
  ['auth.test', '/v1/oauth/revoke'],
  ['auth.test', '/v1/oauth/device/auth'],
  ['auth.test', '/v1/oauth/jwks'],
  ['auth.test', '/v1/oauth/authorize'],
  ['auth.test', '/v1/oauth/.well-known/openid-configuration'],
  ['auth.test', '/.well-known/oauth-authorization-server/v1/oauth'],
  ['auth.test', '/v1/oauth/nothing'],
  ['auth.test', '/v1/portal'],
]

describe('a preflight', () => {
  it.each(places)('passes at %s%s with what pages of another origin send', async (host, path) => {
    const names = 'authorization,baggage,content-type,sentry-trace,traceparent,tracestate,x-requested-with'
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']) {
      const reply = await preflight(host, path, method, names)
      expect(reply).toMatchObject(passes)
      expect(allowed(reply).methods).toContain(method)
      expect(allowed(reply).names).toEqual(expect.arrayContaining(names.split(',')))
      expect(reply.headers).not.toHaveProperty('access-control-allow-credentials')
      expect(reply.headers.vary).toBe('Access-Control-Request-Method, Access-Control-Request-Headers')
    }
  })

  it('lets a page see the refusal of what follows', async () => {
    const headers = { host: 'apps.test', origin: 'https://app.example', baggage: 'a=b' }
    for (const [method, path, status] of [
      ['GET', '/v1/nothing', 404],
      ['PATCH', '/v1/me/profile', 405],
    ] as const) {
      expect(await preflight('apps.test', path, method, 'baggage')).toMatchObject(passes)
      const refused = await send(auth.world.publicPort, method, path, { headers })
      expect([refused.status, refused.headers['access-control-allow-origin']]).toEqual([status, '*'])
    }
  })

  it('says which methods a path has, and nothing of others', async () => {
    const found = await preflight('apps.test', '/v1/storage/c/k', 'PATCH')
    expect(found.headers.allow).toBe('GET, HEAD, PUT, DELETE')
    expect((await preflight('apps.test', '/v1/nothing', 'PATCH')).headers).not.toHaveProperty('allow')
  })

  it('reads names over several lines, and allows each once', async () => {
    const reply = await preflight('apps.test', '/v1/me/profile', 'GET', ['X-One, authorization', 'x-one,X-Two'])
    expect(reply.headers['access-control-allow-headers']).toBe(
      'Authorization, Content-Type, If-Match, If-None-Match, Idempotency-Key, Last-Event-ID, X-Request-Id, X-One, X-Two',
    )
  })

  it.each([
    ['no token', 'a b'],
    ['a quotation mark', 'a"b'],
    ['a line break, encoded', 'a%0d%0ax: y;'],
    ['another letter', 'n\xe4me'],
    ['65 characters', 'x'.repeat(65)],
  ])('passes, without a name that has %s', async (_, name) => {
    const reply = await preflight('apps.test', '/v1/me/profile', 'GET', `${name},x-own`)
    expect(reply).toMatchObject(passes)
    expect(allowed(reply).names).toContain('x-own')
    expect(reply.headers['access-control-allow-headers']).not.toContain(name)
  })

  it('repeats no more than 64 names, and no method that is no token', async () => {
    const names = Array.from({ length: 1_000 }, (_, i) => `x-${i}`)
    const reply = await preflight('apps.test', '/v1/me/profile', 'A B', names.join(','))
    expect(reply).toMatchObject(passes)
    expect(allowed(reply).names.filter((name) => name.startsWith('x-'))).toEqual([
      'x-request-id',
      ...names.slice(0, 64),
    ])
    expect(allowed(reply).methods).toEqual(['GET', 'HEAD'])
  })

  it('allows any tokens at any path', async () => {
    const token = fc.stringMatching(/^[a-zA-Z0-9!#$%&'*+.^_`|~-]{1,64}$/)
    const segment = fc.stringMatching(/^[a-z0-9._~%-]{0,12}$/)
    const path = fc.array(segment, { maxLength: 5 }).map((segments) => `/${segments.join('/')}`)
    const host = fc.constantFrom(...new Set(places.map(([name]) => name)))
    await fc.assert(
      fc.asyncProperty(host, path, token, fc.array(token, { maxLength: 30 }), async (host, path, method, names) => {
        const reply = await preflight(host, path, method, names.join(' , '))
        expect(reply).toMatchObject(passes)
        expect(allowed(reply).methods.map((one) => one.toLowerCase())).toContain(method.toLowerCase())
        expect(allowed(reply).names).toEqual(expect.arrayContaining(names.map((name) => name.toLowerCase())))
      }),
      { numRuns: times(2_000, 100) },
    )
  })

  it('does not pass at the internal port', async () => {
    const reply = await auth.world.internal('OPTIONS', '/trpc/me.profile', {
      headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
    })
    expect(reply.status).toBe(405)
    expect(reply.headers).not.toHaveProperty('access-control-allow-origin')
  })
})
