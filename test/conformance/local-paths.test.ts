import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Section } from '../../routers/kernel/scopes.ts'
import type { AuthWorld } from '../oauth/auth-world.ts'
import { flow, register, startAuthWorld } from '../oauth/auth-world.ts'
import { deviceGrant } from '../oauth/device-world.ts'
import { send } from '../support/request.ts'

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
    const { publicPort } = trial.world
    const local = flow(publicPort, issuer)
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
      const { ids, db, publicPort } = trial.world
      const client = await register(trial.world, { devices: true })
      const [here, there] = [flow(publicPort, own), flow(publicPort, elsewhere)]
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
    const { ids, publicPort } = trial.world
    const { newBrowser, toConsent, authorizeUrl } = flow(publicPort, issuer)
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
      // Every host has the documentation.
      for (const path of paths.filter((one) => one !== '/docs')) expect(path).toMatch(/^\/auth\/v1\/oauth\//)
    }
    expect((await browser.get(`${issuer}/style.css`)).status).toBe(200)
  })

  it('is at the address of this machine in its network, where it is given, and so are the APIs', async () => {
    const host = '192.168.1.7:3000'
    const lan = (name: string) => `http://${host}/${name}/v1`
    const world = await startAuthWorld({
      localUrls: { apps: lan('apps'), lms: lan('lms'), notify: lan('notify'), sync: lan('sync'), auth: lan('auth') },
    })
    const { ids, publicPort } = world.world
    const tokens = await flow(publicPort, `${lan('auth')}/oauth`).toTokens(
      { ...asked(), client: world.client },
      ids.member,
      ids.club,
    )
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
