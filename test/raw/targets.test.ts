import { beforeAll, describe, expect, it } from 'vitest'
import { started } from '../support/started.ts'
import type { Refusal } from './raw-service.ts'
import {
  detail,
  error,
  expectCommonHeaders,
  nameInvalid,
  notHttp,
  nothingHere,
  startRawService,
  titled,
} from './raw-service.ts'

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
