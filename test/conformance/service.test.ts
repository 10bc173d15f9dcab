import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { Connection } from '../raw/socket.ts'
import { localUrlsAt } from '../support/local-urls.ts'
import type { Call, Reply } from '../support/request.ts'
import { useWorld } from '../support/started.ts'
import { createQuiz, id } from '../support/tenant.ts'

// What other files prove with other settings, or with a clock: here as a newcomer's service has it, so that it is also true at
// an address.
const LOCAL = 'http://localhost:3000'
const world = useWorld({ auth: {}, localUrls: localUrlsAt(LOCAL) })
beforeAll(() => createQuiz(world.db, world.ids))

type Expected = [status: number, body: unknown, headers?: Record<string, unknown>]

async function expectReply(reply: Reply | Promise<Reply>, [status, body, headers = {}]: Expected) {
  const { headers: given, ...came } = await reply
  expect({ status: came.status, body: came.body, headers: given }).toMatchObject({
    status,
    headers: { 'x-request-id': expect.stringMatching(/^[A-Za-z0-9._-]{1,64}$/), ...headers },
    ...(body !== undefined && { body }),
  })
}

const detail = (message: unknown) => ({ detail: message })
const error = (code: string) => ({ error: { code, message: expect.any(String), request_id: expect.any(String) } })
const like = (pattern: RegExp | string) => expect.stringMatching(pattern)
const METADATA = (section: string) =>
  `resource_metadata="http://${section}.test/.well-known/oauth-protected-resource/v1"`
const NOT_VALID = { error: { code: 'invalid_token', message: 'This token is not valid.' } }

const withToken = async (claims = {}, scheme = 'Bearer') => ({
  headers: { authorization: `${scheme} ${await world.token(claims)}` },
})

describe('a path', () => {
  const issuer = 'http://auth.test/v1/oauth'
  const html = { 'content-type': 'text/html; charset=utf-8' }
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const wrong = 'grant_type=refresh_token&client_id=none&refresh_token=none'
  const preflight = { origin: 'https://app.example.org', 'access-control-request-method': 'PUT' }
  const openapi = { openapi: like(/^3\.1\./) }
  const both = (section: string) => [`http://${section}.test/v1`, `${LOCAL}/${section}/v1`]
  const document = (section: string, path: string, method: string) => ({
    ...openapi,
    servers: both(section).map((url) => ({ url })),
    paths: { [path]: { [method]: expect.any(Object) } },
  })
  const metadata = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }
  const invalidClient = { error: 'invalid_client', error_description: like(/./) }

  it.each<[line: string, Call, Expected]>([
    ['GET auth.test/.well-known/oauth-authorization-server/v1/oauth', {}, [200, metadata]],
    ['POST apps.test/v1/oauth/token', { headers: form, body: wrong }, [401, invalidClient]],
    ['GET apps.test/v1/openapi.json', {}, [200, document('apps', '/storage/{collection}/{key}', 'put')]],
    ['GET lms.test/v1/openapi.json', {}, [200, document('lms', '/quizzes/{quizId}/results', 'post')]],
    ['GET notify.test/v1/openapi.json', {}, [200, document('notify', '/apps/{id}/webhook', 'put')]],
    ['GET sync.test/v1/openapi.json', {}, [200, document('sync', '/collections/{collection}/entries', 'get')]],
    ['GET apps.test/v1/docs', {}, [200, like(/\/storage\/\{collection\}\/\{key\}/), html]],
    ['GET lms.test/v1/docs/errors', {}, [200, like(/id="tokenExpired"/), html]],
    ['GET localhost:3000/docs', {}, [200, like(/href="\/docs\/first-app"/), html]],
    ['GET localhost:3000/', { headers: { accept: 'text/html' } }, [200, like(/\/v1\/docs/), html]],
    ['POST apps.test/v1/me/profile', {}, [405, detail(like(/\.$/)), { allow: 'GET, HEAD' }]],
    ['GET lms.test/v1/quizzes/q/results', {}, [405, error('method_not_allowed'), { allow: 'POST' }]],
    [
      'OPTIONS apps.test/v1/storage/c/k',
      { headers: preflight },
      [204, undefined, { allow: 'GET, HEAD, PUT, DELETE', 'access-control-allow-methods': 'GET, HEAD, PUT, DELETE' }],
    ],
  ])('answers %s', async (line, call, expected) => {
    const [, method, host, path] = /^(\w+) ([^/]+)(.*)$/.exec(line)!
    await expectReply(world.send(method!, path!, { host: host!, ...call }), expected)
  })

  it('gives the keys of the authorization server without their private parts', async () => {
    const { status, headers, body } = await world.send('GET', '/v1/oauth/jwks', { host: 'auth.test' })
    expect([status, headers['content-type']]).toEqual([200, 'application/jwk-set+json; charset=utf-8'])
    expect(body.keys.length).toBeGreaterThan(0)
    for (const key of body.keys) {
      expect(key).toMatchObject({ kid: like(/./), alg: like(/./) })
      for (const secret of ['d', 'k', 'p', 'q']) expect(key).not.toHaveProperty(secret)
    }
  })

  it('of the internal port tells whether the service lives and is ready', async () => {
    expect(await world.internal('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(await world.internal('GET', '/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } })
  })

  it('of an API exists at localhost too, below its name', async () => {
    const { app, academy, provider } = world.ids
    const at = async (method: string, path: string, organisation = world.ids.club, body?: object) => {
      const { headers } = await withToken({ organisation })
      return world.send(method, path, { host: 'localhost:3000', headers, body })
    }
    await expectReply(at('GET', '/apps/v1/'), [200, { api: 'apps', organisation: world.ids.club }])
    await expectReply(at('GET', '/apps/v1/me/profile'), [200, { id: world.ids.member }])
    const attempt = at('POST', `/lms/v1/quizzes/quiz-${academy}/results`, academy, { answers: { q1: 'Yes' } })
    await expectReply(attempt, [201, { score: 100, passed: true }])
    await expectReply(at('GET', `/notify/v1/apps/${app}/webhook`, provider), [200, { url: null, hasSecret: false }])
    await expectReply(at('GET', '/sync/v1/collections'), [200, { more: false }])
    await expectReply(at('GET', '/lms/v1/me/profile'), [404, detail('This API answers at apps.test.')])
    const challenge = `resource_metadata="${LOCAL}/.well-known/oauth-protected-resource/apps/v1"`
    const refused = world.send('GET', '/apps/v1/me/profile', { host: 'localhost:3000' })
    await expectReply(refused, [401, NOT_VALID, { 'www-authenticate': like(challenge) }])
  })

  it.each([
    ['auth.test', '/v1/oauth/userinfo', 'apps.test'],
    ['auth.test', '/v1/none', 'apps.test'],
    ['auth.test', '/v1/me/profile', 'apps.test'],
    ['unknown.test', '/v1/none', 'apps.test'],
    ['localhost:3000', '/auth/v1/oauth/userinfo', 'localhost:3000'],
    ['127.0.0.1:3000', '/none', 'localhost:3000'],
    ['localhost:3000', '/sync/v1/none', 'localhost:3000'],
  ])('that fails at %s%s leads to the entry of its error, at %s', async (host, path, expected) => {
    const { headers } = await world.send('GET', path, { host })
    const [, link] = /^<(.+)>; rel="help"$/.exec(String(headers.link))!
    const { host: found, pathname, hash } = new URL(link!, `http://${host}`)
    expect(found).toBe(expected)
    const { status, text } = await world.send('GET', pathname, { host: found })
    expect([status, text]).toEqual([200, like(`id="${hash.slice(1)}"`)])
  })

  it('that fails at the internal port leads to the entry of its error at apps', async () => {
    for (const host of ['10.0.0.1', world.hosts.apps]) {
      const { headers } = await world.internal('GET', '/none', { headers: { host } })
      expect(headers.link).toBe(`<http://${world.hosts.apps}/v1/docs/errors#addressUnknown>; rel="help"`)
    }
  })

  it('may be asked for at its host in capitals, with another port', async () => {
    const host = `${world.hosts.apps.split(':')[0]!.toUpperCase()}.:9`
    await expectReply(world.call('GET', '/', { host }), [200, { api: 'apps' }])
    const link = '</v1/docs/errors#addressUnknown>; rel="help"'
    await expectReply(world.call('GET', '/none', { host }), [404, undefined, { link }])
  })
})

describe('a token', () => {
  const get = (call: Call) => world.call('GET', '/', { token: null, ...call })

  it.each([
    ['is malformed', 'Bearer a.b.c', /^Bearer error="invalid_token"/],
    ['has another scheme', 'Basic YTpi', /^Bearer /],
  ])('is 401 where it %s', async (_, authorization, challenge) => {
    await expectReply(get({ headers: { authorization } }), [401, NOT_VALID, { 'www-authenticate': like(challenge) }])
  })

  it('is 401 once it has expired', async () => {
    const expired = { error: { code: 'invalid_token', message: 'This token has expired.' } }
    const challenge = `Bearer error="invalid_token", error_description="This token has expired.", ${METADATA('apps')}`
    const call = await withToken({ exp: world.now() - 1 })
    await expectReply(get(call), [401, expired, { 'www-authenticate': challenge }])
  })

  it.each([
    ['apps', 'PUT', '/storage/c/k', 'svc.apps.storage:write'],
    ['notify', 'GET', '/apps/a/webhook', 'ntf.apps.webhook:read'],
  ])('without the scope is 403 on %s, which names scope and metadata, before a body is read', async (...row) => {
    const [section, method, path, scope] = row
    const reply = await world.call(method, path, { claims: { scope: 'svc.me.profile:read' }, body: '{' })
    const challenge = `Bearer error="insufficient_scope", scope="${scope}", ${METADATA(section)}`
    await expectReply(reply, [403, undefined, { 'www-authenticate': challenge }])
  })
})

describe('a request of a team', () => {
  const client = async (level: 'hobby' | 'developer', environment: 'production' | 'sandbox') => {
    const client_id = id('client')
    const clients = { create: { id: client_id, name: 'Client', environment } }
    await world.db.team.create({ data: { id: id('team'), name: 'Team', level, clients } })
    return { claims: { client_id } }
  }
  const SECONDS = '([1-9]|[1-5]\\d|60)'

  it('tells the limit of the Developer level', async () => {
    const { headers } = await world.call('GET', '/', await client('developer', 'production'))
    expect(headers['ratelimit-policy']).toBe('"team";q=10000;w=60')
    expect(headers.ratelimit).toMatch(new RegExp(`^"team";r=9999;t=${SECONDS}$`))
  })

  it('has no limit from a sandbox', async () => {
    const { status, headers } = await world.call('GET', '/', await client('hobby', 'sandbox'))
    expect([status, headers['ratelimit-policy'], headers.ratelimit]).toEqual([200, undefined, undefined])
  })

  it('is 429 beyond the 60 a minute of the Hobby level', async () => {
    const hobby = await client('hobby', 'production')
    // At most twice 60: a minute may end meanwhile.
    let reply = await world.call('GET', '/', hobby)
    for (let n = 1; n < 122 && reply.status === 200; n++) reply = await world.call('GET', '/', hobby)
    await expectReply(reply, [
      429,
      error('rate_limited'),
      {
        'retry-after': like(`^${SECONDS}$`),
        'ratelimit-policy': '"team";q=60;w=60',
        ratelimit: like(`^"team";r=0;t=${SECONDS}$`),
      },
    ])
  })
})

describe('a stored value', () => {
  /** Nothing of it survives JSON.parse and JSON.stringify. */
  const EXACT =
    '{"z":12345678901234567890,"a":1,"a":-0,"__proto__":{"x":1e400},"t":"\\u0000\\ud800\\/\\u00e9é","n":[ 1.0 ,2E-7,null]}'
  const LARGE = `"${'Müller 𝄞 '.repeat(87_381)}"`
  const put = (path: string, body: string, headers?: Record<string, string>) =>
    world.call('PUT', `/storage/${path}`, { body, headers: { 'content-type': 'application/json', ...headers } })
  const withoutTime = ({ text }: Reply) => text.replace(/"updatedAt":[1-9]\d{9}\}/g, '"updatedAt":…}')
  const entry = (key: string, value: string) => `{"key":"${key}","value":${value},"updatedAt":…}`

  it.each([
    ['exact', EXACT],
    ['large', LARGE],
  ])('is returned byte for byte: %s', async (key, value) => {
    const written = await put(`${key}/${key}`, `{ "value" : \n${value}\t}`)
    const read = await world.call('GET', `/storage/${key}/${key}`)
    for (const reply of [written, read]) expect(withoutTime(reply) === entry(key, value)).toBe(true)
    expect(read.headers.etag).toBe(written.headers.etag)
    const list = await world.call('GET', `/storage/${key}`)
    expect(withoutTime(list) === `{"items":[${entry(key, value)}],"total":1}`).toBe(true)
  })

  it('is refused with a content encoding', async () => {
    const reply = put('encoded/k', '{"value":1}', { 'content-encoding': 'gzip' })
    await expectReply(reply, [415, detail('Send the body as application/json.')])
    expect((await world.call('GET', '/storage/encoded/k')).status).toBe(404)
  })
})

describe('the storage of an app in a club', () => {
  const LIMIT = 10_485_760
  const put = (key: string, bytes: number) =>
    world.call('PUT', `/storage/full/${key}`, { body: `{"value":"${'x'.repeat(bytes - 2)}"}` })
  const used = (bytes: number) => ({ 'x-storage-used': String(bytes), 'x-storage-limit': String(LIMIT) })
  const exceeded: Expected = [413, detail('App storage quota exceeded.'), used(LIMIT)]

  it('takes 10 MB to the last byte, refuses one more, and tells how full it is', async () => {
    await expectReply(world.call('PUT', '/storage/full/first', { body: { value: 'four' } }), [200, { value: 'four' }])
    const before = Number((await put('first', 10)).headers['x-storage-used'])
    await expectReply(put('rest', LIMIT - before), [200, { key: 'rest' }, used(LIMIT)])
    await expectReply(put('more', 3), exceeded)
    await expectReply(put('more', LIMIT + 65_536), exceeded)
    await expectReply(world.call('GET', '/storage/full/more'), [404, detail('This key does not exist.')])
    await expectReply(put('first', 10), [200, { key: 'first' }, used(LIMIT)])
    await expectReply(put('first', 7), [200, { key: 'first' }, used(LIMIT - 3)])
    const removed = await world.call('DELETE', '/storage/full/rest')
    expect([removed.status, removed.headers]).toMatchObject([204, used(before - 3)])
  })
})

describe('an attempt with an Idempotency-Key', () => {
  it('is answered once: the same body gets the first answer, another 409', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const submit = (answers: object) =>
      world.call('POST', `/quizzes/quiz-${world.ids.academy}/results`, { headers, body: { answers } })
    const [first, again] = [await submit({ q1: 'Yes' }), await submit({ q1: 'Yes' })]
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text])
    await expectReply(submit({}), [409, { error: { code: 'conflict', reason: 'idempotency_mismatch' } }])
  })
})

describe('a connection', () => {
  const CLOSE = 'Connection: close'
  const badRequest: Expected = [400, error('invalid_request')]
  const closing: Expected = [400, error('invalid_request'), { connection: 'close' }]
  const head = (...lines: string[]) => [...lines, '', ''].join('\r\n')
  const get = (path: string, ...lines: string[]) => head(`GET ${path} HTTP/1.1`, `Host: ${world.hosts.apps}`, ...lines)
  const put = (...lines: string[]) => head('PUT /v1/storage/bytes/k HTTP/1.1', `Host: ${world.hosts.apps}`, ...lines)
  const bearer = async () => `Authorization: Bearer ${await world.token()}`

  it.each<[name: string, bytes: () => string | Promise<string>, expected: Expected[]]>([
    ['bytes that are not HTTP', () => head('garbage\0'), [closing]],
    ['a length beside chunks', () => `${put('Content-Length: 4', 'Transfer-Encoding: chunked')}0\r\n\r\n`, [closing]],
    ['no host', () => head('GET /v1/ HTTP/1.1', CLOSE), [badRequest]],
    [
      'a header of 20 KB',
      () => get('/v1/', `X-Large: ${'x'.repeat(20_480)}`, CLOSE),
      [[431, error('invalid_request')]],
    ],
    [
      // With a token: the parser of Node 20.19.0 takes these bytes, and the token is checked before the name.
      'a name in UTF-8 that is not percent-encoded',
      async () => get('/v1/storage/c/\xc3\xa9', await bearer(), CLOSE),
      [[422, detail("Names use 1 to 64 letters, digits, '_' or '-'.")]],
    ],
    [
      'a body in chunks',
      async () =>
        put(await bearer(), 'Content-Type: application/json', 'Transfer-Encoding: chunked', CLOSE) +
        '5\r\n{"val\r\n7\r\nue":1.0\r\n1\r\n}\r\n0\r\n\r\n',
      [[200, { key: 'k', value: 1 }]],
    ],
    [
      'two requests at once, in order',
      async () => get('/v1/', await bearer()) + get('/v1/nothing', CLOSE),
      [
        [200, { api: 'apps' }],
        [404, detail(like(/\.$/))],
      ],
    ],
  ])('answers %s', async (_, bytes, expected) => {
    const connection = await Connection.open(world.publicPort)
    await connection.send(await bytes())
    for (const one of expected) {
      const answer = await connection.answer()
      await expectReply({ ...answer, body: JSON.parse(answer.text) }, one)
    }
    connection.end()
    await connection.ended
  })
})
