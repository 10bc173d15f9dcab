import { beforeAll, describe, expect, it } from 'vitest'
import { started } from '../support/started.ts'
import type { Refusal } from './raw-service.ts'
import {
  detail,
  error,
  expectCommonHeaders,
  expectError,
  lines,
  nameInvalid,
  notHttp,
  nothingHere,
  startRawService,
  titled,
  titledTexts,
} from './raw-service.ts'
import { Connection } from './socket.ts'

const service = started(startRawService)
beforeAll(async () => {
  const put = service.request('PUT /v1/storage/col/k1', { body: '{"value":"stored"}' })
  expect((await service.answerTo(put)).status).toBe(200)
})

const nothing = detail(nothingHere)
const foreign = error('not_found', nothingHere)
const wrongHost = detail('This API answers at apps.test.')
const id10k = 'a'.repeat(10_240)

const refused: [target: string, status: number, refusal: Refusal][] = [
  // Segments are compared as they are: no normalisation, no truncation, case-sensitive.
  ['/v1/storage/col/k1/', 404, nothing],
  ['/v1/storage/col/', 422, nameInvalid],
  ['/v1/storage/col/.', 422, nameInvalid],
  ['/v1/storage/col/..', 422, nameInvalid],
  ['/v1/storage/', 422, nameInvalid],
  ['/v1/storage', 404, nothing],
  ['/v1/storage/x/../../me/profile', 404, nothing],
  ['/v1/storage/x/%2e%2e/%2e%2e/me/profile', 404, nothing],
  ['/v1/./me/profile', 404, nothing],
  ['/v1\\storage\\col\\k1', 404, nothing],
  ['/v1/storage/col\\k1', 422, nameInvalid],
  ['/v1/me/profile#here', 404, nothing],
  ['/v1/storage/col/k1#?scope=user', 422, nameInvalid],
  ['/v1/STORAGE/col/k1', 404, nothing],
  ['//v1/me/profile', 404, nothing],
  ['/v1/storage//k1', 422, nameInvalid],
  ['/', 404, nothing],
  ['/v1x/me/profile', 404, nothing],
  ['/%761/me/profile', 404, nothing],
  ['/v1/me%2Fprofile', 404, nothing],
  ['/v1/me/profile;x=1', 404, nothing],
  ['//[bad', 404, nothing],
  ['//apps.test/v1/me/profile', 404, nothing],
  ['/v1/__proto__', 404, nothing],
  // A parameter is percent-decoded; invalid encoding is an invalid name.
  ['/v1/storage/col/a%2Fb', 422, nameInvalid],
  ['/v1/storage/col/%00', 422, nameInvalid],
  ['/v1/storage/col/%zz', 422, nameInvalid],
  ['/v1/storage/col/%ff', 422, nameInvalid],
  ['/v1/storage/col/%EF%BC%A1', 422, nameInvalid],
  ['/v1/storage/col/k1%0a', 422, nameInvalid],
  ['/v1/storage/col/k%2531', 422, nameInvalid],
  ['/v1/storage/col/k+1', 422, nameInvalid],
  [`/v1/storage/col/${'k'.repeat(65)}`, 422, nameInvalid],
  [`/v1/storage/col/${id10k}`, 422, nameInvalid],
  // The OpenAPI document has one address.
  ['/v1/openapi.json/', 404, nothing],
  [`/v1/${'long/'.repeat(3000)}`, 404, nothing],
  // An absolute target names its own host.
  ['http://evil.test/v1/me/profile', 404, wrongHost],
  ['http://user@apps.test/v1/me/profile', 404, wrongHost],
  ['http://lms.test/v1/me/profile', 404, wrongHost],
  ['http://[bad/', 404, foreign],
  ['http://[bad/v1/me/profile', 404, wrongHost],
  ['http://', 404, foreign],
  ['ftp://apps.test/v1/me/profile', 404, nothing],
  ['*', 404, nothing],
]

describe('a target without an endpoint, or with an invalid name', () => {
  it.each(titled(refused))('%s is refused', async (_, target, status, refusal) => {
    await service.expectRefused(service.request(`GET ${target}`), status, refusal)
  })

  it.each(['PUT', 'DELETE'])('is refused for %s too, and changes nothing', async (method) => {
    for (const [target, status, refusal] of refused) {
      if (!target.startsWith('/v1/storage/')) continue
      // A collection has no PUT or DELETE.
      const ofCollection = target.split('/').length === 4
      const sent = service.request(`${method} ${target}`, method === 'PUT' ? { body: '{"value":1}' } : {})
      if (ofCollection) await service.expectRefused(sent, 405, detail('Use GET, HEAD here.'))
      else await service.expectRefused(sent, status, refusal)
    }
  })
})

describe('a target with an endpoint', () => {
  const served: [target: string, text: RegExp][] = [
    ['/v1', /^{"api":"apps"/],
    ['/v1/', /^{"api":"apps"/],
    ['/v1?x', /^{"api":"apps"/],
    ['http://apps.test/v1', /^{"api":"apps"/],
    ['HTTP://APPS.TEST:81/v1/storage/col/k1?scope=org', /"stored"/],
    ['https://apps.test./v1/storage/col/k1', /"stored"/],
    ['/v1/storage/col/k%31', /"stored"/],
    ['/v1/%73torage/c%6Fl/k1', /"stored"/],
    ['/v1/storage/col/k1?scope=org#here=1', /^{"detail":"scope is org or user."}$/],
    ['/v1/openapi.json', /^{"openapi":"3.1/],
  ]
  it.each(served)('%s is answered', async (target, text) => {
    const answer = await service.answerTo(service.request(`GET ${target}`))
    expect(answer.text).toMatch(text)
    expectCommonHeaders(answer)
  })
})

describe('the method', () => {
  const target = '/v1/storage/col/k1'
  const allow = 'GET, HEAD, PUT, DELETE'

  it('HEAD is answered like GET, without a body', async () => {
    const get = await service.answerTo(service.request(`GET ${target}`))
    const head = await service.answerTo(service.request(`HEAD ${target}`), 'HEAD')
    const same = ['content-type', 'content-length', 'etag']
    expect(head.status).toBe(200)
    expect(same.map((name) => head.headers[name])).toEqual(same.map((name) => get.headers[name]))
    expectCommonHeaders(head)
  })

  it('HEAD is refused like GET, without a body', async () => {
    const answers = await Promise.all([
      service.answerTo(service.request('HEAD /v1/nothing'), 'HEAD'),
      service.answerTo(service.request(`HEAD ${target}`, { token: null }), 'HEAD'),
      service.answerTo(service.request('HEAD /v1/storage/col/%00'), 'HEAD'),
      service.answerTo(service.request('HEAD /v1/quizzes/a/results', { api: 'lms' }), 'HEAD'),
    ])
    expect(answers.map(({ status }) => status)).toEqual([404, 401, 422, 405])
    for (const answer of answers) expectCommonHeaders(answer)
  })

  it('OPTIONS returns 404 without an endpoint', async () => {
    await service.expectRefused(service.request('OPTIONS /v1/nothing'), 404, nothing)
    await service.expectRefused(service.request('OPTIONS *'), 404, nothing)
  })

  it.each(['POST', 'PATCH', 'TRACE', 'PROPFIND', 'PURGE', 'M-SEARCH', 'QUERY'])(
    '%s returns 405 with the allowed methods',
    async (method) => {
      const answer = await service.expectRefused(
        service.request(`${method} ${target}`),
        405,
        detail(`Use ${allow} here.`),
      )
      expect(answer.headers.allow).toBe(allow)
    },
  )

  it.each(['get', 'FOO', 'GET\t', '', 'G ET', '\x16\x03\x01'])('%j returns 400', async (method) => {
    await service.expectRefused(service.request(`${method} ${target}`), 400, notHttp)
  })

  it('is not read from an override header', async () => {
    const headers = ['X-HTTP-Method-Override: DELETE', 'X-HTTP-Method: DELETE', 'X-Method-Override: DELETE']
    const answer = await service.answerTo(service.request(`GET ${target}`, { headers }))
    expect(answer.text).toContain('stored')
  })

  it('CONNECT closes the connection only', async () => {
    await expect(service.answerTo(service.request('CONNECT apps.test:80'))).rejects.toThrow('ended')
    expect((await service.answerTo(service.request(`GET ${target}`))).status).toBe(200)
  })
})

let token: string
beforeAll(async () => {
  token = service.tokens.apps
})

const get = (...fields: string[]) =>
  lines('GET /v1/ HTTP/1.1', 'Host: apps.test', `Authorization: Bearer ${token}`, ...fields)

describe('Host', () => {
  const detailNotHttp = detail(notHttp.error.message)

  it('must be sent exactly once in HTTP/1.1', async () => {
    await service.expectRefused(lines('GET /v1/ HTTP/1.1', `Authorization: Bearer ${token}`), 400, notHttp)
    for (const second of ['apps.test', 'evil.test', '']) {
      await service.expectRefused(get(`Host: ${second}`), 400, detailNotHttp)
      await service.expectRefused(get(`hOsT: ${second}`), 400, detailNotHttp)
    }
    const before = lines('GET /v1/ HTTP/1.1', 'Host: evil.test', 'Host: apps.test', `Authorization: Bearer ${token}`)
    await service.expectRefused(before, 400, notHttp)
  })

  it('may be missing in HTTP/1.0, which gets 404', async () => {
    const old = (...fields: string[]) => lines('GET /v1/ HTTP/1.0', `Authorization: Bearer ${token}`, ...fields)
    const wrong = detail('This API answers at apps.test.')
    await service.expectRefused(old(), 404, wrong)
    await service.expectRefused(old('Host: evil.test'), 404, wrong)
    await service.expectRefused(old('Host: apps.test', 'Host: apps.test'), 400, detailNotHttp)
    expect((await service.answerTo(old('Host: apps.test'))).status).toBe(200)
    const keepAlive = await service.answerTo(old('Host: apps.test', 'Connection: keep-alive'))
    expect(keepAlive).toMatchObject({ status: 200, headers: { connection: 'keep-alive' } })
  })

  it('is taken from an absolute target', async () => {
    const absolute = (target: string, host: string) =>
      lines(`GET ${target} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${token}`)
    const right = await service.answerTo(absolute('http://apps.test/v1/', 'evil.test'))
    expect(right.status).toBe(200)
    await service.expectRefused(
      absolute('http://evil.test/v1/', 'apps.test'),
      404,
      detail('This API answers at apps.test.'),
    )
    const without = lines('GET http://apps.test/v1/ HTTP/1.1', `Authorization: Bearer ${token}`)
    await service.expectRefused(without, 400, detailNotHttp)
  })

  it.each(['APPS.TEST', 'apps.test.', 'apps.test:80', 'apps.test:', 'Apps.Test.:8443'])(
    'may be written as %s',
    async (host) => {
      expect((await service.answerTo(service.request('GET /v1/', { host }))).status).toBe(200)
    },
  )

  it.each(
    titledTexts([
      '',
      'apps.test.evil.test',
      'apps.test:80:80',
      'apps.test..',
      'apps.test:x',
      'apps.test@evil.test',
      '[::1]',
      'apps.test, apps.test',
      `${'a'.repeat(10_240)}`,
    ]),
  )('returns 404 for %s', async (_, host) => {
    await service.expectRefused(service.request('GET /v1/', { host }), 404, detail('This API answers at apps.test.'))
    const lms = { api: 'lms' as const, host, body: '' }
    const refusal = error('not_found', 'This API answers at lms.test.')
    await service.expectRefused(service.request('POST /v1/quizzes/a/results', lms), 404, refusal)
    await service.expectRefused(service.request('GET /v1/openapi.json', { host }), 404, error('not_found', nothingHere))
  })
})

/** The bytes of a text in UTF-8, one character each. */
const raw = (text: string) => Buffer.from(text).toString('latin1')
const put = (target: string) => service.request(`PUT ${target}`, { body: '{"value":1}' })

describe('a name with UTF-8 that is not percent-encoded', () => {
  it.each(
    titledTexts([
      '/v1/storage/größe/k',
      '/v1/storage/c/größe',
      '/v1/storage/c/漢字?scope=user',
      '/v1/storage/c/%C3%A9é',
      '/v1/storage/é/é',
    ]),
  )('is 422: %s', async (_, target) => {
    await service.expectRefused(put(raw(target)), 422, nameInvalid)
    await service.expectRefused(service.request(`DELETE ${raw(target)}`), 422, nameInvalid)
    expectCommonHeaders(await service.expectRefused(service.request(`GET ${raw(target)}`), 422, nameInvalid))
  })

  it('is 422 in a list, and behind another request in the same packet', async () => {
    await service.expectRefused(service.request(`GET ${raw('/v1/storage/größe?limit=5')}`), 422, nameInvalid)
    const connection = await Connection.open(service.world.publicPort)
    const list = service.request('GET /v1/storage/c')
    await connection.send(Buffer.concat([list, service.request(`GET ${raw('/v1/storage/c/größe')}`)]))
    expect((await connection.answer()).status).toBe(200)
    expectError(await connection.answer(), 422, nameInvalid)
    connection.end()
    await connection.ended
  })
})

describe('a collection of sync with UTF-8 that is not percent-encoded', () => {
  it('is 422 in the envelope of sync, and a raw parameter is 400', async () => {
    const names = "Names use 1 to 64 letters, digits, '_' or '-'."
    const request = (target: string) => service.request(`GET ${raw(target)}`, { api: 'sync' })
    await service.expectRefused(request('/v1/collections/größe/entries'), 422, error('invalid_request', names))
    await service.expectRefused(request('/v1/collections/c/entries?prefix=é'), 400, notHttp)
  })
})

describe('other raw bytes are 400:', () => {
  it.each(
    titledTexts([
      'GET /v1/storage/c/\xe9',
      'GET /v1/storage/c/\xed\xa0\x80',
      `GET ${raw('/v1/stórage/c/k')}`,
      `GET ${raw('/v1/me/profilé')}`,
      `GET ${raw('/v1/storage/c/k?scope=é')}`,
      `GET ${raw('/v1/quizzes/é/results')}`,
      `POST ${raw('/v1/quizzes/é/results')}`,
      `GET ${raw('/v1/apps/é/webhook')}`,
      `PATCH ${raw('/v1/storage/c/é')}`,
      `GET ${raw('http://apps.test/v1/storage/c/é')}`,
      `GET ${raw('/v1/storage/c/é')} x`,
    ]),
  )('%s', async (_, line) => {
    await service.expectRefused(service.request(line), 400, notHttp)
  })

  it('on the internal port', async () => {
    const bytes = service.request(`GET ${raw('/v1/storage/c/é')}`)
    const answer = await service.answerTo(bytes, 'GET', service.world.internalPort)
    expect(answer.status).toBe(400)
  })
})
