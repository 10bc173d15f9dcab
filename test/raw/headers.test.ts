import { beforeAll, describe, expect, it } from 'vitest'
import { started } from '../support/started.ts'
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

  it.each(['gzip', 'deflate', 'br', 'zstd', 'x-gzip', 'gzip, identity', 'utf-8'])(
    'returns 415 with Content-Encoding %s',
    async (encoding) => {
      const headers = [`Content-Encoding: ${encoding}`]
      await service.expectRefused(service.request('PUT /v1/storage/col/k1', { body, headers }), 415, detail(wrongType))
      const sent = service.request(`POST ${quiz}`, { api: 'lms', body, headers })
      await service.expectRefused(sent, 415, error('invalid_request', wrongType))
    },
  )

  it.each(['identity', 'Identity', 'identity, IDENTITY'])('may come with Content-Encoding %s', async (encoding) => {
    const headers = [`Content-Encoding: ${encoding}`]
    expect((await service.answerTo(service.request('PUT /v1/storage/col/k1', { body, headers }))).status).toBe(200)
  })
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
