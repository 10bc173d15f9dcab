import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { startAuthWorld } from '../oauth/auth-world.ts'
import { send } from '../support/request.ts'
import { times } from '../support/rounds.ts'
import { startedAround } from '../support/started.ts'

const auth = startedAround(() => startAuthWorld())

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
