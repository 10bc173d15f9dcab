import { describe, expect, it } from 'vitest'
import { scopes, sectionNames } from '../../routers/kernel/scopes.ts'
import { flow, startAuthWorld } from '../oauth/auth-world.ts'
import { send } from '../support/request.ts'
import { startedAround } from '../support/started.ts'
import { authBaseUrl, startWorld } from '../support/world.ts'

const local = {
  apps: 'http://localhost:3000/apps/v1',
  lms: 'http://localhost:3000/lms/v1',
  notify: 'http://localhost:3000/notify/v1',
  sync: 'http://localhost:3000/sync/v1',
  auth: 'http://localhost:3000/auth/v1',
}
const service = startedAround(() => startAuthWorld({ localUrls: local }))
const WELL_KNOWN = '/.well-known/oauth-protected-resource'

const call = (host: string, path: string, method = 'GET', headers: Record<string, string> = {}) =>
  send(service.world.publicPort, method, path, { headers: { host, ...headers } })

const own = sectionNames.map(
  (section) => [section, `${section}.test`, '/v1', `http://${section}.test/v1`, authBaseUrl] as const,
)
const atLocalhost = sectionNames.map(
  (section) => [section, 'localhost:3000', `/${section}/v1`, local[section], local.auth] as const,
)
const every = [...own, ...atLocalhost]

describe.each(every)('the protected resource document of %s at %s%s', (section, host, path, resource, auth) => {
  it('names the resource, its issuer and scopes, without a token, to every origin', async () => {
    for (const address of [`${WELL_KNOWN}${path}`, `${WELL_KNOWN}${path}/`]) {
      const answer = await call(host, address, 'GET', { origin: 'https://app.example' })
      expect(answer).toMatchObject({
        status: 200,
        body: {
          resource,
          authorization_servers: [`${auth}/oauth`],
          bearer_methods_supported: ['header'],
          resource_documentation: `${resource}/docs`,
        },
        headers: { 'access-control-allow-origin': '*', 'content-type': 'application/json; charset=utf-8' },
      })
      expect(answer.body.scopes_supported.length).toBeGreaterThan(0)
      for (const scope of answer.body.scopes_supported) {
        expect(Object.keys(scopes)).toContain(scope)
        if (section !== 'sync') expect(scopes[scope as keyof typeof scopes].section).toBe(section)
      }
    }
  })

  it('is where each challenge leads: of a missing, wrong or expired token, and of a missing scope', async () => {
    const named = `resource_metadata="${new URL(resource).origin}${WELL_KNOWN}${new URL(resource).pathname}"`
    const { world } = service
    const at = { apps: '/me/profile', lms: '/quizzes/q/results', notify: '/apps/a/webhook', sync: '/collections' }[
      section
    ]
    const method = section === 'lms' ? 'POST' : 'GET'
    const expired = await world.token({ exp: world.now() - 60 })
    const without = await world.token({ scope: '' })
    for (const authorization of ['', 'Basic x', 'Bearer x', `Bearer ${expired}`, `Bearer ${without}`]) {
      const answer = await call(host, `${path}${at}`, method, authorization === '' ? {} : { authorization })
      expect([401, 403]).toContain(answer.status)
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer /)
      expect(answer.headers['www-authenticate']).toContain(named)
    }
  })

  it('answers HEAD and preflights, and no other method', async () => {
    const address = `${WELL_KNOWN}${path}`
    expect(await call(host, address, 'HEAD')).toMatchObject({ status: 200 })
    const preflight = { origin: 'https://app.example', 'access-control-request-method': 'GET' }
    expect((await call(host, address, 'OPTIONS', preflight)).status).toBe(204)
    const other = await call(host, address, 'POST')
    expect([other.status, other.headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  it('has a resource that the authorization server accepts', async () => {
    const { body } = await call(host, `${WELL_KNOWN}${path}`)
    const { toTokens, refresh } = flow(service.world.publicPort, body.authorization_servers[0])
    const asked = { client: service.client, scope: 'svc.me.profile:read', more: { resource: body.resource } }
    const tokens = await toTokens(asked)
    expect((await refresh(service.client, tokens.refresh_token, { resource: body.resource })).status).toBe(200)
  })
})

describe('a protected resource document', () => {
  it.each(own)('of %s is at its host without a path too', async (_, host, _path, resource) => {
    expect((await call(host, WELL_KNOWN)).body.resource).toBe(resource)
  })

  it.each([
    ['auth.test', `${WELL_KNOWN}/v1`],
    ['localhost:3000', WELL_KNOWN],
    ['apps.test', `${WELL_KNOWN}/v1/me`],
    ['apps.test', `${WELL_KNOWN}/v2`],
    ['apps.test', `${WELL_KNOWN}x`],
    ['unknown.test', `${WELL_KNOWN}/v1`],
  ])('is not at %s%s', async (host, path) => {
    expect((await call(host, path)).status).toBe(404)
  })

  it('is where the challenge of userinfo leads', async () => {
    const answer = await call('auth.test', '/v1/oauth/userinfo')
    expect(answer.headers['www-authenticate']).toContain(`resource_metadata="http://apps.test${WELL_KNOWN}/v1"`)
  })

  it('is where the challenge of a call over tRPC leads', async () => {
    for (const path of ['/trpc/me.profile', '/trpc/me.profile,me.groups?batch=1']) {
      const answer = await send(service.world.internalPort, 'GET', path, {})
      expect(answer.status).toBe(401)
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer .*resource_metadata="http:\/\/apps\.test\//)
      expect(String(answer.headers['www-authenticate']).match(/resource_metadata/g)).toHaveLength(1)
    }
  })

  it('names the outside issuer, whose tokens the service takes', async () => {
    const outside = 'https://sso.example/realm'
    const keys = async () => {
      throw new Error('no key')
    }
    const principalOf = () => ({ member: null, organisation: 'a', client: 'a', scopes: new Set<string>() })
    const world = await startWorld({
      externalIssuer: async () => ({ issuer: outside, audience: 'a', keys, principalOf }) as never,
    })
    const { body } = await send(world.publicPort, 'GET', `${WELL_KNOWN}/v1`, { headers: { host: 'lms.test' } })
    expect(body.authorization_servers).toEqual([outside])
    await world.close()
  })
})
