import { beforeAll, describe, expect, it } from 'vitest'
import type { Section } from '../../routers/kernel/scopes.ts'
import { send } from '../support/request.ts'
import { started, useWorld } from '../support/started.ts'
import { detail, error, notHttp, notThisToken, startRawService, titled, titledTexts } from './raw-service.ts'
import { Connection } from './socket.ts'

const service = started(startRawService)
let webhook: string
let quiz: string
beforeAll(async () => {
  webhook = `/v1/apps/${service.world.ids.app}/webhook`
  quiz = `/v1/quizzes/${encodeURIComponent(service.quizId)}/results`
  const put = service.request('PUT /v1/storage/col/k1', { body: '{"value":"stored"}' })
  expect((await service.answerTo(put)).status).toBe(200)
})

const body = '{"value":"stored"}'
const wrongType = 'Send the body as application/json.'

describe('Content-Type', () => {
  it.each([
    'application/json; charset="utf-8"',
    'application/json; charset=utf8',
    'application/json ; charset = utf-8',
    'Application/JSON',
    'application/json; profile="x"',
  ])('may be %j', async (type) => {
    const answer = await service.answerTo(service.request('PUT /v1/storage/col/k1', { body, type }))
    expect(answer.status).toBe(200)
    const set = service.request(`PUT ${webhook}`, { api: 'notify', body: '{"url":"https://a.b"}', type })
    expect((await service.answerTo(set)).status).toBe(200)
  })

  it.each([
    null,
    '',
    'text/plain',
    'application/json-patch+json',
    'application/jsonp',
    'application/json, text/plain',
    'application/json; charset=latin1',
    'application/json; charset=',
    'application/json; charset="utf-8',
    'application/json; charset=utf-7',
  ])('returns 415 for %j', async (type) => {
    const sent = { type, body }
    await service.expectRefused(service.request('PUT /v1/storage/col/k1', sent), 415, detail(wrongType))
    await service.expectRefused(
      service.request('PUT /v1/storage/col/k1?scope=x', sent),
      422,
      detail('scope is org or user.'),
    )
    const refusal = error('invalid_request', wrongType)
    await service.expectRefused(service.request(`POST ${quiz}`, { ...sent, api: 'lms' }), 415, refusal)
    await service.expectRefused(service.request(`PUT ${webhook}`, { ...sent, api: 'notify' }), 415, refusal)
  })

  it.each(['gzip', 'deflate', 'br', 'zstd', 'x-gzip', 'gzip, identity', ',gzip', 'utf-8'])(
    'returns 415 with Content-Encoding %s',
    async (encoding) => {
      const headers = [`Content-Encoding: ${encoding}`]
      await service.expectRefused(service.request('PUT /v1/storage/col/k1', { body, headers }), 415, detail(wrongType))
      const sent = service.request(`POST ${quiz}`, { api: 'lms', body, headers })
      await service.expectRefused(sent, 415, error('invalid_request', wrongType))
    },
  )

  it.each(['identity', 'Identity', 'identity, IDENTITY', '', 'identity,', ', ,'])(
    'may come with Content-Encoding %j',
    async (encoding) => {
      const headers = [`Content-Encoding: ${encoding}`]
      expect((await service.answerTo(service.request('PUT /v1/storage/col/k1', { body, headers }))).status).toBe(200)
    },
  )
})

describe('X-Request-Id', () => {
  it('is replaced when it is sent twice', async () => {
    const answer = await service.answerTo(
      service.request('GET /v1/', { headers: ['X-Request-Id: a', 'X-Request-Id: b'] }),
    )
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('a conditional request', () => {
  const changed = detail('This entry has changed.')
  const garbage = [
    'x',
    '""',
    '"',
    'W/""',
    '"\xff"',
    '"a\\"',
    '","',
    'NULL',
    ',,,',
    '"*"',
    '"x", "y"',
    '"a",'.repeat(2500),
  ]

  it.each(titledTexts(garbage))('returns 412 for If-Match: %s', async (_, value) => {
    for (const key of ['k1', 'absent']) {
      const headers = [`If-Match: ${value}`]
      await service.expectRefused(service.request(`PUT /v1/storage/col/${key}`, { body, headers }), 412, changed)
      await service.expectRefused(service.request(`DELETE /v1/storage/col/${key}`, { headers }), 412, changed)
    }
  })

  it.each(titledTexts(garbage))('ignores If-None-Match: %s', async (_, value) => {
    const headers = [`If-None-Match: ${value}`, 'If-Modified-Since: nonsense']
    const get = await service.answerTo(service.request('GET /v1/storage/col/k1', { headers }))
    expect(get.status).toBe(200)
    expect((await service.answerTo(service.request('PUT /v1/storage/col/k1', { body, headers }))).status).toBe(200)
  })
})

describe('Idempotency-Key', () => {
  const refusal = error('invalid_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters.')
  it.each(titled([[''], ['a b'], ['\xff'], ['a\tb'], ['x'.repeat(256)], ['x'.repeat(10_240)], ['a', 'b'], ['a', 'a']]))(
    'returns 400 for %s',
    async (_, ...keys) => {
      const headers = keys.map((key) => `Idempotency-Key: ${key}`)
      const sent = { api: 'lms' as const, headers, body: '{"answers":{}}' }
      await service.expectRefused(service.request(`POST ${quiz}`, sent), 400, refusal)
      // Headers are checked before the body.
      await service.expectRefused(service.request(`POST ${quiz}`, { ...sent, body: '', type: null }), 400, refusal)
    },
  )
})

describe('an unrelated header', () => {
  it.each([
    ['X-Forwarded-Host: lms.test'],
    ['X-Forwarded-Host: evil.test', 'X-Forwarded-Proto: https', 'X-Forwarded-For: 1.2.3.4'],
    ['Forwarded: host=evil.test;proto=https'],
    ['X-Original-URL: /v1/nothing', 'X-Rewrite-URL: /v1/nothing'],
    ['Accept: text/html', 'Accept-Encoding: gzip, br', 'Accept-Charset: utf-16'],
    ['Range: bytes=0-1', 'If-Range: "x"'],
    ['Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Key: x', 'Sec-WebSocket-Version: 13'],
    ['Upgrade: h2c', 'Connection: Upgrade, HTTP2-Settings', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
    ['Cookie: __proto__=x; a=\xff', 'Referer: \xff', 'User-Agent: \xff'],
    ['__proto__: x', 'constructor: x', 'toString: x', 'hasOwnProperty: x'],
    ['X-Empty:', 'X-Spaces:   ', 'X-Tab:\t'],
    ['Content-Type: application/json', 'Content-Length: 0'],
    ['TE: trailers', 'Trailer: X', 'Via: 1.0 x'],
  ])('changes nothing: %s', async (...headers) => {
    const answer = await service.answerTo(service.request('GET /v1/storage/col/k1', { headers }))
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.text).toContain('"stored"')
    expect(answer.headers['content-encoding']).toBeUndefined()
  })

  it('hides no other header, even 2,100 of them', async () => {
    const many = Array.from({ length: 2100 }, () => 'a:')
    const plain = await service.answerTo(service.request('GET /v1/', { headers: many }))
    expect(plain.status).toBe(200)
    const twice = service.request('GET /v1/', { headers: [...many, 'Host: evil.test'] })
    await service.expectRefused(twice, 400, detail(notHttp.error.message))
    const tokens = service.request('GET /v1/', { headers: [...many, 'Authorization: Bearer x'] })
    await service.expectRefused(tokens, 401, notThisToken)
    const typed = {
      token: null,
      type: null,
      body,
      headers: [...many, 'Content-Type: application/json', `Authorization: Bearer ${service.tokens.apps}`],
    }
    expect((await service.answerTo(service.request('PUT /v1/storage/col/k1', typed))).status).toBe(200)
  })
})

describe('Expect', () => {
  it('100-continue gets 100, then the answer', async () => {
    const head = service.request('PUT /v1/storage/col/k1', {
      headers: ['Expect: 100-continue', 'Content-Type: application/json', `Content-Length: ${body.length}`],
    })
    const connection = await Connection.open(service.world.publicPort)
    await connection.send(head)
    expect((await connection.answer()).status).toBe(100)
    await connection.send(body)
    const answer = await connection.answer()
    expect(answer.status).toBe(200)
    await service.expectServing(connection, answer)
  })

  interface Head {
    path?: string
    token?: null
    type?: string
    length?: number
    more?: string[]
  }
  it.each<[string, number, Head]>([
    ['a bad token', 401, { token: null, more: ['Authorization: Bearer bad'] }],
    ['a wrong scope in the query', 422, { path: '?scope=x' }],
    ['another content type', 415, { type: 'text/plain' }],
    ['a body beyond the quota', 413, { length: 20_000_000 }],
  ])('100-continue with %s gets the refusal alone: the client keeps its body', async (_, status, head) => {
    const { path = '', token, type = 'application/json', length = 1_000_000, more = [] } = head
    const headers = ['Expect: 100-continue', `Content-Type: ${type}`, `Content-Length: ${length}`, ...more]
    const connection = await Connection.open(service.world.publicPort)
    await connection.send(
      service.request(`PUT /v1/storage/col/k1${path}`, { headers, ...(token === null && { token }) }),
    )
    expect((await connection.answer()).status).toBe(status)
    expect(await connection.ended).toBe('end')
  })

  it.each(['bogus', '200-ok', '100-continued', '\xff'])('%j gets 417', async (expectation) => {
    const headers = [`Expect: ${expectation}`]
    await service.expectRefused(service.request('GET /v1/', { headers }), 417, notHttp)
    await service.expectRefused(
      service.request('PUT /v1/storage/col/k1', { headers, body: '{"value":2}' }),
      417,
      notHttp,
    )
  })
})

const world = useWorld({ auth: {} })

/** Quadratic for negotiator: 15 KB of it stopped the process for 0.4 s. */
const costly = `a/b;x="${'"",,'.repeat(3_700)}"`
const padded = (wanted: string, length: number) => `${wanted}, x${'-x'.repeat((length - wanted.length - 3) / 2)}`

/** Status, and a header of the response, for a request with these headers. */
const answerTo = (host: string, path: string, headers: Record<string, string>) =>
  send(world.publicPort, 'GET', path, { headers: { host, ...headers } })

describe('a negotiated header of more than 1,024 bytes', () => {
  it('Accept, counts as absent: the answer is no stream', async () => {
    const path = '/v1/collections/c/changes'
    const authorization = `Bearer ${await world.token({ organisation: world.ids.club })}`
    for (const accept of [costly, padded('text/event-stream', 1_026)]) {
      const reply = await answerTo('sync.test', path, { authorization, accept })
      expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8'])
    }
  })

  it('Accept-Language, counts as absent: the page is in English', async () => {
    const page = (value: string) =>
      answerTo('auth.test', '/v1/oauth/connected', { accept: 'text/html', 'accept-language': value })
    expect((await page(padded('de', 1_024))).text).toContain('<html lang="de"')
    expect((await page(padded('de', 1_026))).text).toContain('<html lang="en"')
    expect((await page(costly)).text).toContain('<html lang="en"')
  })

  it('Accept-Encoding, counts as absent: the answer is not compressed', async () => {
    const document = (value: string) => answerTo('apps.test', '/v1/docs/style.css', { 'accept-encoding': value })
    expect((await document(padded('gzip', 1_024))).headers['content-encoding']).toBe('gzip')
    expect((await document(padded('gzip', 1_026))).headers['content-encoding']).toBeUndefined()
  })

  it.each(['accept', 'accept-language', 'accept-encoding', 'accept-charset'])(
    '%s, changes no answer of the authorization server and of the internal port',
    async (name) => {
      const query = 'client_id=unknown&redirect_uri=http://localhost/&response_type=code'
      const plain = await answerTo('auth.test', `/v1/oauth/authorize?${query}`, {})
      const long = await answerTo('auth.test', `/v1/oauth/authorize?${query}`, { [name]: costly })
      expect(long.status).toBe(plain.status)
      const health = await world.internal('GET', '/healthz', { headers: { [name]: costly } })
      expect(health.status).toBe(200)
    },
  )
})

beforeAll(async () => {
  webhook = `/v1/apps/${service.world.ids.app}/webhook`
  quiz = `/v1/quizzes/${encodeURIComponent(service.quizId)}/results`
  const put = service.request('PUT /v1/storage/col/k1', { body: '{"value":"stored"}' })
  expect((await service.answerTo(put)).status).toBe(200)
})

describe('Authorization', () => {
  const jwt = (header: object, payload: object) =>
    [header, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
  const bad = (): string[] => {
    const { apps: token } = service.tokens
    const [header, payload, signature] = token.split('.') as [string, string, string]
    return [
      'Bearer',
      'Bearer ',
      token,
      `Basic ${token}`,
      `Bearer\t${token}`,
      `Bearer ${token} ${token}`,
      `Bearer ${token}, Bearer ${token}`,
      `Bearer ${token}=`,
      `Bearer ${header}.${payload}`,
      `Bearer ${header}.${payload}.`,
      `Bearer ${payload}.${header}.${signature}`,
      `Bearer ${header}.${payload}.${signature.slice(0, -4)}AAAA`,
      `Bearer ${jwt({ alg: 'none', typ: 'at+jwt' }, { sub: 'a', organisation: 'b', client_id: 'c', exp: 2 ** 40 })}.`,
      `Bearer ${jwt({ alg: 'HS256', typ: 'at+jwt' }, { sub: 'a' })}.AAAA`,
      `Bearer ${jwt({ alg: 'ES256', crit: ['x'], b64: false }, {})}.AAAA`,
      'Bearer \xff\xfe',
      `Bearer ${'a'.repeat(12_000)}`,
      'Bearer sk_live_0123456789abcdef',
    ]
  }

  it('returns 401 without a valid token', async () => {
    for (const value of bad()) {
      const sent = { token: null, headers: [`Authorization: ${value}`] }
      const answer = await service.expectRefused(service.request('GET /v1/me/profile', sent), 401, notThisToken)
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token"/)
      const put = service.request('PUT /v1/storage/col/k1', { ...sent, body: 'no JSON' })
      await service.expectRefused(put, 401, notThisToken)
    }
  })

  it.each<[Section, string]>([
    ['apps', 'GET /v1/'],
    ['apps', 'PUT /v1/storage/%00/%00?scope=x'],
    ['lms', 'POST /v1/quizzes/%00/results'],
    ['notify', 'GET /v1/apps/%00/webhook'],
    ['sync', 'GET /v1/collections/%00/entries'],
  ])('returns 401 when it is missing, empty or repeated at %s: %s', async (api, line) => {
    const token = `Authorization: Bearer ${service.tokens[api]}`
    for (const headers of [
      [],
      ['Authorization:'],
      [token, token],
      [token, 'Authorization: Bearer x'],
      [token, 'authorization:'],
    ]) {
      const answer = await service.expectRefused(
        service.request(line, { api, token: null, headers }),
        401,
        notThisToken,
      )
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer /)
    }
  })
})

describe('a claim of a valid token', () => {
  const noMember = (api: Section) => {
    if (api === 'apps') return detail('This member does not exist in this club.')
    const organisation = { lms: 'academy', notify: 'provider', sync: 'club' }[api]
    return error('not_found', `This member does not exist in this ${organisation}.`)
  }
  const lines = (): [Section, string][] => [
    ['apps', 'GET /v1/me/profile'],
    ['apps', 'GET /v1/me/events'],
    ['apps', 'GET /v1/storage/col?scope=user'],
    ['apps', 'PUT /v1/storage/col/k1?scope=user'],
    ['lms', `POST ${quiz}`],
    ['notify', `PUT ${webhook}`],
    ['sync', 'GET /v1/collections?scope=user'],
    ['sync', 'GET /v1/collections/col/entries'],
  ]
  const odd = ['\0', 'a\0b', 'x'.repeat(6_000), '\ud800', '__proto__', ' ', "' OR 1=1 --", '漢😀'.repeat(500)]

  it.each(['sub', 'organisation'])('returns 404 for unusual values: %s', async (claim) => {
    for (const value of odd) {
      const { world } = service
      const { ids } = world
      for (const [api, line] of lines()) {
        const organisation = { apps: ids.club, lms: ids.academy, notify: ids.provider, sync: ids.club }[api]
        const token = await world.token({ organisation, [claim]: value })
        const more = line.startsWith('GET') ? {} : { body }
        await service.expectRefused(service.request(line, { api, token, ...more }), 404, noMember(api))
      }
    }
  })

  it('returns 401 for unusual client ids', async () => {
    for (const value of odd) {
      const token = await service.world.token({ client_id: value })
      for (const [api, line] of [...lines(), ['apps', 'GET /v1/'] as const]) {
        await service.expectRefused(service.request(line, { api, token }), 401, notThisToken)
      }
    }
  })
})
