import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Section } from '../../routers/kernel/scopes.ts'
import { scopes, sectionNames } from '../../routers/kernel/scopes.ts'
import type { AuthWorld } from '../oauth/auth-world.ts'
import { flow, register, startAuthWorld } from '../oauth/auth-world.ts'
import { deviceGrant } from '../oauth/device-world.ts'
import { Connection } from '../raw/socket.ts'
import { send } from '../support/request.ts'
import { startedAround } from '../support/started.ts'
import { authBaseUrl, startWorld } from '../support/world.ts'

const at = (section: string) => `http://localhost:3000/${section}/v1`
const localUrls = { apps: at('apps'), lms: at('lms'), notify: at('notify'), sync: at('sync'), auth: at('auth') }

let trial: AuthWorld
let other: AuthWorld
let tokens: Record<Section, string>
beforeAll(async () => {
  ;[trial, other] = await Promise.all([startAuthWorld({ localUrls }), startAuthWorld()])
  const { ids, token } = trial.world
  tokens = {
    apps: await token(),
    lms: await token({ organisation: ids.academy }),
    notify: await token({ organisation: ids.provider }),
    sync: await token(),
  }
})
afterAll(() => Promise.all([trial.world.close(), other.world.close()]))

type Call = { host?: string; section?: keyof typeof tokens; headers?: Record<string, string>; body?: unknown }
const call = (method: string, path: string, { host = 'localhost:3000', section, headers, body }: Call = {}) =>
  send(trial.world.publicPort, method, path, {
    headers: { host, ...(section && { authorization: `Bearer ${tokens[section]}` }), ...headers },
    body,
  })

describe('the paths of the APIs at localhost', () => {
  it.each(['localhost', 'LOCALHOST.:3000', '127.0.0.1:3000', '[::1]:3000'])('answer at the host %s', async (host) => {
    expect(await call('GET', '/apps/v1', { host, section: 'apps' })).toMatchObject({
      status: 200,
      body: { api: 'apps' },
    })
    expect(await call('GET', '/apps/v1/?x=1', { host, section: 'apps' })).toMatchObject({ status: 200 })
    const quiz = await call('POST', '/lms/v1/quizzes/none/results', { host, section: 'lms', body: { answers: {} } })
    expect([quiz.status, quiz.body.error.message]).toEqual([404, 'This quiz does not exist in this academy.'])
    const webhook = await call('GET', `/notify/v1/apps/${trial.world.ids.app}/webhook`, { host, section: 'notify' })
    expect(webhook.status).toBe(200)
    const collections = await call('GET', '/sync/v1/collections', { host, section: 'sync' })
    expect([collections.status, collections.body.more]).toEqual([200, false])
  })

  it("do as the paths of the API's own host do: names, methods, preconditions, CORS, documents", async () => {
    const entry = '/apps/v1/storage/notes/a%2Fb'
    expect(await call('GET', entry, { section: 'apps' })).toMatchObject({ status: 422 })
    const put = await call('PUT', '/apps/v1/storage/notes/entry?scope=user', { section: 'apps', body: { value: 1 } })
    expect(put.status).toBe(200)
    const own = await call('GET', '/v1/storage/notes/entry?scope=user', { host: 'apps.test', section: 'apps' })
    expect([own.body.value, own.headers.etag]).toEqual([1, put.headers.etag])
    const preflight = await call('OPTIONS', '/apps/v1/storage/notes/entry', { headers: { origin: 'http://a.test' } })
    expect(preflight).toMatchObject({ status: 204, headers: { 'access-control-allow-origin': '*' } })
    expect(await call('POST', '/apps/v1/me/profile', { section: 'apps' })).toMatchObject({ status: 405 })
    const refused = await call('GET', '/apps/v1/me/profile')
    const [, help] = /^<(.+)#tokenMissing>; rel="help"$/.exec(String(refused.headers.link))!
    expect([refused.status, help]).toEqual([401, '/apps/v1/docs/errors'])
    expect((await call('GET', help!)).text).toContain('id="tokenMissing"')
    const { servers, components } = (await call('GET', '/notify/v1/openapi.json')).body
    expect(servers).toEqual([{ url: localUrls.notify }, { url: 'http://notify.test/v1' }])
    const { tokenUrl } = components.securitySchemes.member.flows.authorizationCode
    expect(tokenUrl).toBe(`${localUrls.auth}/oauth/token`)
    const atHost = await call('GET', '/v1/openapi.json', { host: 'notify.test' })
    expect(atHost.body.servers).toEqual(servers.toReversed())
  })

  it.each([
    ['/apps/v1/storage/größe/k', 422, '/apps/v1/docs/errors#nameInvalid'],
    ['/sync/v1/collections/größe/entries', 422, '/sync/v1/docs/errors#nameInvalid'],
    ['/sync/v1/storage/größe/k', 400, '/v1/docs/errors#requestInvalid'],
    ['/lms/v1/storage/größe/k', 400, '/v1/docs/errors#requestInvalid'],
  ])('refuse a name in raw UTF-8 as at the host: %s is %i', async (path, status, help) => {
    const connection = await Connection.open(trial.world.publicPort)
    const head = `GET ${path} HTTP/1.1\r\nHost: localhost:3000\r\n\r\n`
    await connection.send(Buffer.from(head))
    const answer = await connection.answer()
    expect([answer.status, answer.headers.link]).toEqual([status, `<${help}>; rel="help"`])
    connection.end()
    await connection.ended
  })

  it('keep the sections apart', async () => {
    const wrong = await call('GET', '/lms/v1/me/profile', { section: 'apps' })
    expect([wrong.status, wrong.body]).toEqual([404, { detail: 'This API answers at apps.test.' }])
  })

  it('have the token endpoint, and no pages of the authorization server, which has a path of its own', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = 'grant_type=refresh_token&client_id=none&refresh_token=none'
    const refused = await call('POST', '/apps/v1/oauth/token', { headers: form, body })
    expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client'])
    for (const path of ['/oauth/authorize', '/oauth/connected', '/oauth/revoke', '/oauth/jwks']) {
      for (const section of ['apps', 'lms']) {
        const { status, headers } = await call('GET', `/${section}/v1${path}`)
        expect([section, path, status, headers['set-cookie']]).toEqual([section, path, 404, undefined])
      }
    }
  })

  it.each(['evil.test', 'localhost.evil.test', 'xlocalhost', 'a.localhost', 'lms.test', '127.0.0.2', '0.0.0.0'])(
    'do not exist at the host %s',
    async (host) => {
      const answer = await call('GET', '/apps/v1/me/profile', { host, section: 'apps' })
      expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('There is nothing at this address.')])
    },
  )

  it.each(['/apps/v10/me/profile', '/apps//v1/me/profile', '/APPS/v1/me/profile', '/apps/v1me', '/x/apps/v1', '/apps'])(
    'are exact: %s does not exist',
    async (path) => {
      expect((await call('GET', path, { section: 'apps' })).status).toBe(404)
    },
  )

  it('exist in the trial only', async () => {
    const { world } = other
    const headers = { host: 'localhost:3000', authorization: `Bearer ${await world.token()}` }
    expect((await send(world.publicPort, 'GET', '/apps/v1/me/profile', { headers })).status).toBe(404)
    const document = await send(world.publicPort, 'GET', '/v1/openapi.json', { headers: { host: 'apps.test' } })
    expect(document.body.servers).toEqual([{ url: 'http://apps.test/v1' }])
  })
})

/** At the host of its own. */
const MAIN = 'http://auth.test/v1/oauth'

describe('the authorization server at localhost', () => {
  const issuer = `${localUrls.auth}/oauth`
  const asked = () => ({ client: trial.client, scope: 'svc.me.profile:read' })

  it('is an issuer of its own, and names its own addresses alone', async () => {
    for (const path of [
      '/.well-known/oauth-authorization-server/auth/v1/oauth',
      '/auth/v1/oauth/.well-known/oauth-authorization-server',
    ]) {
      const { body } = await call('GET', path)
      expect(body.issuer).toBe(issuer)
      for (const [name, value] of Object.entries(body)) {
        if (name.endsWith('_endpoint') || name === 'jwks_uri')
          expect([name, value]).toEqual([name, expect.stringContaining(`${issuer}/`)])
      }
    }
  })

  it('signs a member in, whose tokens the APIs take at all of their addresses, and renews them', async () => {
    const local = flow(trial.world, issuer)
    const tokens = await local.toTokens(asked())
    expect(decodeJwt(tokens.access_token).iss).toBe(issuer)
    const authorization = `Bearer ${tokens.access_token}`
    expect((await call('GET', '/apps/v1/me/profile', { headers: { authorization } })).status).toBe(200)
    expect((await call('GET', '/v1/me/profile', { host: 'apps.test', headers: { authorization } })).status).toBe(200)
    const renewed = await local.refresh(trial.client, tokens.refresh_token)
    expect([renewed.status, decodeJwt(renewed.json.access_token).iss]).toEqual([200, issuer])
  })

  it.each([
    ['of the host', issuer, MAIN],
    ['at localhost', MAIN, issuer],
  ])(
    'redeems and revokes no code, refresh token or device code of the issuer %s, which stay good there',
    async (_, elsewhere, own) => {
      const { ids, db } = trial.world
      const client = await register(trial.world, { devices: true })
      const [here, there] = [flow(trial.world, own), flow(trial.world, elsewhere)]
      const wanted = { client, scope: 'svc.me.profile:read' }
      const expectRefused = async (answer: Promise<{ status: number; json: { error?: string } }>) => {
        const { status, json } = await answer
        expect([status, json.error]).toEqual([400, 'invalid_grant'])
      }
      const { code, verifier } = await here.toCode(wanted)
      await expectRefused(there.exchange(client, code, verifier))
      const tokens = (await here.exchange(client, code, verifier)).json

      await expectRefused(there.refresh(client, tokens.refresh_token))
      await there.app.post(`${elsewhere}/revoke`, { client_id: client, token: tokens.refresh_token })
      const renewed = await here.refresh(client, tokens.refresh_token)
      expect(renewed.status).toBe(200)
      await expectRefused(there.refresh(client, renewed.json.refresh_token))
      expect((await here.refresh(client, renewed.json.refresh_token)).status).toBe(200)

      const device = (await here.app.post(`${own}/device/auth`, { client_id: client, scope: wanted.scope })).json
      const { device_code, user_code } = device
      const poll = (at: typeof here) => at.token({ grant_type: deviceGrant, client_id: client, device_code })
      await expectRefused(poll(there))
      expect((await there.newBrowser().post(`${elsewhere}/device`, { user_code })).status).toBe(400)
      const browser = here.newBrowser()
      const entered = await browser.post(`${own}/device`, { user_code })
      const page = await here.toConsent(browser, entered.location!, ids.member)
      await browser.submit(page, 'consent', { organisation: ids.club, scope: wanted.scope, decision: 'allow' })
      await expectRefused(poll(there))
      expect((await poll(here)).status).toBe(200)
      expect(await db.consent.count({ where: { clientId: client, withdrawnAt: null } })).toBe(2)
    },
  )

  it('has pages that link and post to themselves alone, the portal included', async () => {
    const { ids } = trial.world
    const { newBrowser, toConsent, authorizeUrl } = flow(trial.world, issuer)
    const browser = newBrowser()
    const pages = [
      await toConsent(browser, authorizeUrl(asked()).url, ids.member),
      await browser.open(`${issuer}/connected`),
      await browser.open(`${issuer}/developers`),
      await browser.open(`${issuer}/none`),
    ]
    expect(pages.map(({ status }) => status)).toEqual([200, 200, 200, 404])
    // The page for an unknown address links to `/`.
    for (const { text } of pages.slice(0, -1)) {
      const paths = [...text.matchAll(/(?:href|src|action)="(\/[^"]*)"/g)].map(([, path]) => path!)
      expect(paths.length).toBeGreaterThan(0)
      // Every host has the documentation and its search.
      for (const path of paths.filter((one) => !['/docs', '/docs/search'].includes(one)))
        expect(path).toMatch(/^\/auth\/v1\/oauth\//)
    }
    expect((await browser.get(`${issuer}/style.css`)).status).toBe(200)
  })

  it('is at the address of this machine in its network, where it is given, and so are the APIs', async () => {
    const host = '192.168.1.7:3000'
    const lan = (name: string) => `http://${host}/${name}/v1`
    const world = await startAuthWorld({
      localUrls: { apps: lan('apps'), lms: lan('lms'), notify: lan('notify'), sync: lan('sync'), auth: lan('auth') },
    })
    const { publicPort } = world.world
    const tokens = await flow(world.world, `${lan('auth')}/oauth`).toTokens({ ...asked(), client: world.client })
    const headers = { host, authorization: `Bearer ${tokens.access_token}` }
    expect((await send(publicPort, 'GET', '/apps/v1/me/profile', { headers })).status).toBe(200)
    expect(
      (await send(publicPort, 'GET', '/apps/v1/me/profile', { headers: { ...headers, host: '192.168.1.8:3000' } }))
        .status,
    ).toBe(404)
    await world.world.close()
  })

  it('is not there for a service that has no such paths, nor at another host', async () => {
    const path = '/auth/v1/oauth/jwks'
    for (const host of ['evil.test', 'apps.test', '127.0.0.1:3000'])
      expect((await call('GET', path, { host })).status).toBe(404)
    expect((await send(other.world.publicPort, 'GET', path, { headers: { host: 'localhost:3000' } })).status).toBe(404)
  })
})

const local = {
  apps: 'http://localhost:3000/apps/v1',
  lms: 'http://localhost:3000/lms/v1',
  notify: 'http://localhost:3000/notify/v1',
  sync: 'http://localhost:3000/sync/v1',
  auth: 'http://localhost:3000/auth/v1',
}
const service = startedAround(() => startAuthWorld({ localUrls: local }))
const WELL_KNOWN = '/.well-known/oauth-protected-resource'

const callAt = (host: string, path: string, method = 'GET', headers: Record<string, string> = {}) =>
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
      const answer = await callAt(host, address, 'GET', { origin: 'https://app.example' })
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
      const answer = await callAt(host, `${path}${at}`, method, authorization === '' ? {} : { authorization })
      expect([401, 403]).toContain(answer.status)
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer /)
      expect(answer.headers['www-authenticate']).toContain(named)
    }
  })

  it('answers HEAD and preflights, and no other method', async () => {
    const address = `${WELL_KNOWN}${path}`
    expect(await callAt(host, address, 'HEAD')).toMatchObject({ status: 200 })
    const preflight = { origin: 'https://app.example', 'access-control-request-method': 'GET' }
    expect((await callAt(host, address, 'OPTIONS', preflight)).status).toBe(204)
    const other = await callAt(host, address, 'POST')
    expect([other.status, other.headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  it('has a resource that the authorization server accepts', async () => {
    const { body } = await callAt(host, `${WELL_KNOWN}${path}`)
    const { toTokens, refresh } = flow(service.world, body.authorization_servers[0])
    const asked = { client: service.client, scope: 'svc.me.profile:read', more: { resource: body.resource } }
    const tokens = await toTokens(asked)
    expect((await refresh(service.client, tokens.refresh_token, { resource: body.resource })).status).toBe(200)
  })
})

describe('a protected resource document', () => {
  it.each(own)('of %s is at its host without a path too', async (_, host, _path, resource) => {
    expect((await callAt(host, WELL_KNOWN)).body.resource).toBe(resource)
  })

  it.each([
    ['auth.test', `${WELL_KNOWN}/v1`],
    ['localhost:3000', WELL_KNOWN],
    ['apps.test', `${WELL_KNOWN}/v1/me`],
    ['apps.test', `${WELL_KNOWN}/v2`],
    ['apps.test', `${WELL_KNOWN}x`],
    ['unknown.test', `${WELL_KNOWN}/v1`],
  ])('is not at %s%s', async (host, path) => {
    expect((await callAt(host, path)).status).toBe(404)
  })

  it('is where the challenge of userinfo leads', async () => {
    const answer = await callAt('auth.test', '/v1/oauth/userinfo')
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
    const toPrincipal = () => ({ member: null, organisation: 'a', client: 'a', scopes: new Set<string>() })
    const world = await startWorld({
      externalIssuer: async () => ({ issuer: outside, audience: 'a', keys, toPrincipal }) as never,
    })
    const { body } = await send(world.publicPort, 'GET', `${WELL_KNOWN}/v1`, { headers: { host: 'lms.test' } })
    expect(body.authorization_servers).toEqual([outside])
    await world.close()
  })
})
