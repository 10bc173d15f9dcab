import { describe, expect, it } from 'vitest'
import { documentedHeaders } from '../support/documented.ts'
import { useWorld } from '../support/started.ts'
import type { World } from '../support/world.ts'

const world = useWorld()

const answers: [string, () => ReturnType<World['call']>][] = [
  ['a 200 response', () => world.call('GET', '/me/profile')],
  [
    'a 204 response',
    () => world.call('PUT', '/storage/c/k', { body: { value: 1 } }).then(() => world.call('DELETE', '/storage/c/k')),
  ],
  ['a 401 response', () => world.call('GET', '/me/profile', { token: null })],
  ['a 403 response', () => world.call('GET', '/me/profile', { claims: { scope: '' } })],
  ['a response at a wrong host', () => world.call('GET', '/me/profile', { host: 'elsewhere.test' })],
  ['a response at an unknown path', () => world.call('GET', '/nothing')],
  ['a response to a wrong method', () => world.call('POST', '/me/profile', { body: {} })],
  ['a preflight response', () => world.call('OPTIONS', '/me/profile', { token: null })],
  ['a response to an invalid body', () => world.call('PUT', '/storage/c/k', { body: '' })],
  ['the OpenAPI document', () => world.call('GET', '/openapi.json', { token: null })],
]

describe.each(answers)('%s', (_, ask) => {
  it('is readable from any origin and exposes the documented headers', async () => {
    const { headers } = await ask()
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
    expect(headers['access-control-expose-headers']!.split(', ').sort()).toEqual(documentedHeaders)
  })

  it('has a request id', async () => {
    expect((await ask()).headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
  })
})

describe('Cache-Control', () => {
  it.each([
    ['GET', '/me/profile', {}],
    ['HEAD', '/me/events', {}],
    ['GET', '/me/profile', { token: null }],
    ['GET', '/me/profile', { claims: { scope: '' } }],
    ['POST', '/me/profile', { body: {} }],
    ['GET', '/membercard/code', {}],
    ['GET', '/membercard/pass', {}],
  ])('forbids storing what %s %s %j returns', async (method, path, call) => {
    const { headers } = await world.call(method, path, call)
    expect(headers['cache-control']).toBe('private, no-store')
  })

  it('forbids storing a result over tRPC', async () => {
    const headers = { authorization: `Bearer ${await world.token()}` }
    for (const path of ['me.profile', 'me.profile?batch=1', 'nothing']) {
      const answer = await world.internal('GET', `/trpc/${path}`, { headers })
      expect(answer.headers['cache-control']).toBe('private, no-store')
    }
  })

  it('lets the storage be revalidated by its ETag', async () => {
    const { headers } = await world.call('PUT', '/storage/c/cached', { body: { value: 1 } })
    const fresh = await world.call('GET', '/storage/c/cached', { headers: { 'if-none-match': headers.etag! } })
    expect([fresh.status, fresh.headers['cache-control']]).toEqual([304, 'private, no-cache, no-transform'])
    expect((await world.call('GET', '/')).headers['cache-control']).toBe('private, no-cache')
  })
})

describe('a preflight', () => {
  it('allows the methods of the path and the request headers of the service', async () => {
    const { headers } = await world.call('OPTIONS', '/storage/c/k', {
      token: null,
      headers: { origin: 'https://app.example', 'access-control-request-method': 'PUT' },
    })
    expect(headers['access-control-allow-methods']!.split(', ').sort()).toEqual(['DELETE', 'GET', 'HEAD', 'PUT'])
    expect(headers['access-control-allow-headers']!.split(', ').sort()).toEqual([
      'Authorization',
      'Content-Type',
      'Idempotency-Key',
      'If-Match',
      'If-None-Match',
      'Last-Event-ID',
      'X-Request-Id',
    ])
  })
})

describe('X-Request-Id', () => {
  it.each(['a', 'my-id_1.2', 'x'.repeat(64)])('is taken over from the request: %s', async (own) => {
    const reply = await world.call('GET', '/me/profile', { token: null, headers: { 'x-request-id': own } })
    expect([reply.headers['x-request-id'], reply.body.error.request_id]).toEqual([own, own])
  })

  it.each(['', 'a b', 'x'.repeat(65), '<id>'])('is replaced when it is malformed: %s', async (own) => {
    const reply = await world.call('GET', '/me/profile', { token: null, headers: { 'x-request-id': own } })
    expect(reply.headers['x-request-id']).not.toBe(own)
    expect(reply.body.error.request_id).toBe(reply.headers['x-request-id'])
  })
})

describe('the host of a section', () => {
  it('is not read from X-Forwarded-Host', async () => {
    const reply = await world.call('GET', '/me/profile', {
      host: 'lms.test',
      headers: { 'x-forwarded-host': 'apps.test' },
    })
    expect(reply.status).toBe(404)
  })
})
