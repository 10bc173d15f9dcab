import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.close())

const answers: [string, () => ReturnType<World['call']>][] = [
  ['a success', () => world.call('GET', '/me/profile')],
  [
    'a 204',
    () => world.call('PUT', '/storage/c/k', { body: { value: 1 } }).then(() => world.call('DELETE', '/storage/c/k')),
  ],
  ['a 401', () => world.call('GET', '/me/profile', { token: null })],
  ['a 403', () => world.call('GET', '/me/profile', { claims: { scope: '' } })],
  ['a wrong host', () => world.call('GET', '/me/profile', { host: 'elsewhere.test' })],
  ['an unknown path', () => world.call('GET', '/nothing')],
  ['a wrong method', () => world.call('POST', '/me/profile', { body: {} })],
  ['a preflight', () => world.call('OPTIONS', '/me/profile', { token: null })],
  ['a refused body', () => world.call('PUT', '/storage/c/k', { body: '' })],
  ['the OpenAPI document', () => world.call('GET', '/openapi.json', { token: null })],
]

describe.each(answers)('%s', (_, ask) => {
  it('may be read by a page of any origin, its documented headers too', async () => {
    const { headers } = await ask()
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
    expect(headers['access-control-expose-headers']!.split(', ').sort()).toEqual([
      'ETag',
      'RateLimit',
      'RateLimit-Policy',
      'Retry-After',
      'WWW-Authenticate',
      'X-Request-Id',
      'X-Storage-Limit',
      'X-Storage-Used',
    ])
  })

  it('has a request id', async () => {
    expect((await ask()).headers['x-request-id']).toMatch(/^[A-Za-z0-9._-]{1,64}$/)
  })
})

describe('a preflight', () => {
  it('allows the methods of the path, and the headers that the service reads', async () => {
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
      'X-Request-Id',
    ])
  })
})

describe('the request id', () => {
  it.each(['a', 'my-id_1.2', 'x'.repeat(64)])("is the caller's own: %s", async (own) => {
    const reply = await world.call('GET', '/me/profile', { token: null, headers: { 'x-request-id': own } })
    expect([reply.headers['x-request-id'], reply.body.error.request_id]).toEqual([own, own])
  })

  it.each(['', 'a b', 'x'.repeat(65), '<id>'])('is a new one where theirs is unfit: %s', async (own) => {
    const reply = await world.call('GET', '/me/profile', { token: null, headers: { 'x-request-id': own } })
    expect(reply.headers['x-request-id']).not.toBe(own)
    expect(reply.body.error.request_id).toBe(reply.headers['x-request-id'])
  })
})

describe('the host of a section', () => {
  it.each(['APPS.test', 'apps.test:8080', 'apps.test.', 'apps.test.:80'])('is known as %s', async (host) => {
    expect(await world.call('GET', '/me/profile', { host })).toMatchObject({ status: 200 })
  })

  it.each(['test', 'xapps.test', 'apps.test.evil', '127.0.0.1', 'apps'])('is not %s', async (host) => {
    expect(await world.call('GET', '/me/profile', { host })).toMatchObject({ status: 404 })
  })

  it('is not taken from X-Forwarded-Host', async () => {
    const reply = await world.call('GET', '/me/profile', {
      host: 'lms.test',
      headers: { 'x-forwarded-host': 'apps.test' },
    })
    expect(reply.status).toBe(404)
  })
})
