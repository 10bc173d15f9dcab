import { beforeAll, describe, expect, it } from 'vitest'
import type { Section } from '../../routers/kernel/scopes.ts'
import { started } from '../support/started.ts'
import { detail, error, notThisToken, startRawService } from './raw-service.ts'

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
