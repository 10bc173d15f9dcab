import * as oauth from 'oauth4webapi'
import { beforeEach, describe, expect, it } from 'vitest'
import { removeClient } from '../../server/admin/clients.ts'
import { mintMember } from '../support/app-server.ts'
import { asPlatform, platformClient } from '../support/platform.ts'
import { startedAround } from '../support/started.ts'
import { issuer, startAuthWorld } from './auth-world.ts'
import { offered } from './browser.ts'
import { documentWorld, redirectUri, respondWith, scope } from './document-world.ts'
import { byPort } from './openid-world.ts'

const here = documentWorld()
const approving = startedAround(() =>
  startAuthWorld({ like: here.world, clubApproval: true, documents: here.documents }),
)
// Minutes of limits begin again.
beforeEach(() => here.world.advance(61))

const count = (address: string) => here.asked().filter((one) => one === address).length
const readText = (text: string) => text.replace(/<[^>]*>/g, '').replace(/\s+/g, ' ')
const states = async (token: string, client: string, refresh: string) => [
  await here.profileStatus(token),
  (await here.refresh(client, refresh)).status,
]

describe('a client whose id is the address of its document', () => {
  it('signs a member in by oauth4webapi, and has rows from the consent on', async () => {
    const client = { client_id: here.publish(here.at('/library.json', here.other), { client_name: 'Kuchen & Co' }) }
    const options = byPort(here)
    const at = new URL(issuer)
    const discovery = await oauth.discoveryRequest(at, { ...options, algorithm: 'oauth2' })
    const server = await oauth.processDiscoveryResponse(at, discovery)
    expect(server.client_id_metadata_document_supported).toBe(true)
    const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()]
    const url = new URL(server.authorization_endpoint!)
    url.search = new URLSearchParams({
      client_id: client.client_id,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: `openid offline_access ${scope}`,
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      resource: 'http://sync.test/v1',
    }).toString()
    const browser = here.newBrowser()
    const signIn = await browser.open(url)
    expect(signIn.text).toContain(here.other)
    const page = await here.toConsent(browser, url, here.world.ids.member)
    expect(readText(page.text)).toContain('Allow Kuchen &amp; Co?')
    const host = new URL(client.client_id).host
    expect(readText(page.text)).toContain(`Vouched for by ${host}, not reviewed`)
    expect(page.text).toContain('tool.example')
    const before = await here.rows()
    expect(before.teams.filter(({ name }) => name === host)).toEqual([])

    const fields = { organisation: here.world.ids.club, scope: scope.split(' '), decision: 'allow' }
    const back = await browser.submit(page, 'consent', fields)
    const parameters = oauth.validateAuthResponse(server, client, back.location!, state)
    const code = oauth.authorizationCodeGrantRequest
    const answer = await code(server, client, oauth.None(), parameters, redirectUri, verifier, options)
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer)
    expect([tokens.scope, tokens.id_token]).toEqual([scope, undefined])
    expect(await here.profileStatus(tokens.access_token)).toBe(200)
    const renewal = await oauth.refreshTokenGrantRequest(server, client, oauth.None(), tokens.refresh_token!, options)
    expect((await oauth.processRefreshTokenResponse(server, client, renewal)).scope).toBe(scope)

    const { teams, apps, clients } = await here.rows()
    const id = `https://${host}`
    expect(teams).toContainEqual({ id, name: host, level: 'hobby', endsAt: null })
    expect(apps).toContainEqual(expect.objectContaining({ id, name: host, teamId: id, providerId: null }))
    expect(clients.filter(({ teamId }) => teamId === id)).toEqual([
      expect.objectContaining({ id: client.client_id, name: 'Kuchen & Co', appId: id, redirectUris: [] }),
    ])
    expect(clients.flatMap(({ scopes }) => scopes).filter((one) => /^lms|^notify|openid/.test(one))).toEqual([])
  })

  it('renews with the scopes of its request, though some are dropped', async () => {
    const client = here.publish(here.at('/renews.json'))
    const { json } = await here.allow(client, undefined, { scope: `openid offline_access ${scope}` })
    const asked = { scope: `openid offline_access ${scope}` }
    const renewed = await here.refresh(client, json.refresh_token, asked)
    expect([renewed.status, renewed.json.scope]).toEqual([200, scope])
    const more = await here.refresh(client, renewed.json.refresh_token, { scope: `${scope} svc.me.groups:read` })
    expect([more.status, more.json.error]).toEqual([400, 'invalid_scope'])
  })

  it.each([
    ['encoded', (client: string) => encodeURIComponent(client)],
    ['as it is', (client: string) => client],
  ])('may send its address in the header, %s, with an empty secret', async (_, written) => {
    const client = here.publish(here.at('/header.json'))
    const header = (secret = '') => ({
      authorization: `Basic ${Buffer.from(`${written(client)}:${secret}`).toString('base64')}`,
    })
    const { page, verifier, browser } = await here.ask(client)
    const fields = { organisation: here.world.ids.club, scope: scope.split(' '), decision: 'allow' }
    const code = (await browser.submit(page, 'consent', fields)).location!.searchParams.get('code')!
    const redeemed = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri }
    const first = await here.token(redeemed, header())
    expect([first.status, first.json.scope]).toEqual([200, scope])
    const renewal = { grant_type: 'refresh_token', refresh_token: first.json.refresh_token, scope: `openid ${scope}` }
    expect((await here.token(renewal, header('secret'))).status).toBeGreaterThanOrEqual(400)
    const again = await here.token(renewal, header())
    expect([again.status, again.json.scope]).toEqual([200, scope])
    const token = again.json.refresh_token
    expect((await here.app.post(`${issuer}/revoke`, { token }, header())).status).toBe(200)
    expect((await here.refresh(client, token)).json.error).toBe('invalid_grant')
  })

  it('gets the page to sign in with prompt=select_account', async () => {
    const client = here.publish(here.at('/select.json'))
    const { browser } = await here.allow(client)
    const asked = { client, scope: `openid ${scope}`, redirectUri, more: { prompt: 'select_account' } }
    expect((await browser.open(here.authorizeUrl(asked).url)).text).toContain('name="member"')
  })

  it('is shown with its host at Connected apps, and ends there', async () => {
    const client = here.publish(here.at('/connected.json'))
    const member = await mintMember(here.world)
    const { json } = await here.allow(client, member)
    const browser = here.newBrowser()
    const list = await browser.submit(await browser.open(`${issuer}/connected`), 'pick', { member })
    expect(readText(list.text)).toMatch(/Tool Vouched for by tool-/)
    const [consent] = offered(list, 'consent')
    await browser.submit(list, 'withdraw', { consent: consent! })
    here.world.advance(5)
    expect(await states(json.access_token, client, json.refresh_token)).toEqual([401, 400])
  })

  it('is allowed with nine others a minute by a member, and no more', async () => {
    const client = here.publish(here.at('/many.json'))
    const member = await mintMember(here.world)
    for (let at = 0; at < 10; at++) expect((await here.allow(client, member)).status).toBe(200)
    const { page, browser } = await here.ask(client, {}, member)
    const fields = { organisation: here.world.ids.club, scope: scope.split(' '), decision: 'allow' }
    expect((await browser.submit(page, 'consent', fields)).status).toBe(429)
    expect(await here.world.db.consent.count({ where: { personId: member } })).toBe(10)
  })

  it('asks the member each time', async () => {
    const client = here.publish(here.at('/asks.json'))
    const member = await mintMember(here.world)
    const { browser } = await here.allow(client, member)
    for (const again of [browser, here.newBrowser()]) {
      const { page } = await here.ask(client, {}, member, again)
      expect(offered(page, 'decision')).toEqual(['allow', 'refuse'])
    }
    const { page } = await here.ask(client, { more: { prompt: 'none' } }, member, browser)
    expect(page.location!.searchParams.get('error')).toMatch(/^(?:consent|interaction)_required$/)
    const consents = await here.world.db.consent.findMany({ where: { personId: member } })
    expect(consents.map(({ shown }) => shown)).toEqual([null])
  })

  it.each([
    ['http://127.0.0.1/callback', 'http://127.0.0.1:49152/callback'],
    ['http://localhost/callback', 'http://localhost:49152/callback'],
    ['com.example.tool:/back', 'com.example.tool:/back'],
  ])('may be a native app: %s', async (listed, used) => {
    const client = here.publish(here.at(`/native/${listed.length}.json`), { redirect_uris: [redirectUri, listed] })
    expect((await here.allow(client, undefined, { redirectUri: used })).status).toBe(200)
  })

  it('has scopes of the Hobby level alone, no device codes, and no tokens of its own', async () => {
    const client = here.publish(here.at('/levels.json'))
    const { page } = await here.ask(client, { scope: 'lms.me.quizzes:read' })
    expect(page.location!.searchParams.get('error')).toBe('invalid_scope')
    const device = await here.app.post(`${issuer}/device/auth`, { client_id: client, scope })
    expect([device.status, device.json.error]).toEqual([400, 'unauthorized_client'])
    const own = { grant_type: 'client_credentials', client_id: client, organisation: here.world.ids.club, scope }
    expect((await here.token(own)).json.error).toBe('unauthorized_client')
  })

  it('shares team, app and limit with all clients of its host, also when two members are the first at once', async () => {
    const clients = ['/a.json', '/b.json'].map((path) => here.publish(here.at(path, here.elsewhere)))
    const member = await mintMember(here.world)
    const [one, other] = await Promise.all([here.allow(clients[0]!), here.allow(clients[1]!, member)])
    const id = new URL(clients[0]!).origin
    const { teams, apps, clients: rows } = await here.rows()
    expect(teams.filter((row) => row.id === id)).toHaveLength(1)
    expect(apps.filter((row) => row.teamId === id)).toHaveLength(1)
    expect(rows.flatMap((row) => (row.appId === id ? row.id : [])).toSorted()).toEqual(clients)
    const remaining = async (token: string) => {
      const { headers } = await here.world.call('GET', '/me/profile', { token })
      return Number(/;r=(\d+)/.exec(String(headers.ratelimit))![1])
    }
    const first = await remaining(one.json.access_token)
    expect(await remaining(other.json.access_token)).toBe(first - 1)
  })
})

describe('a document', () => {
  it('that changes has effect once it is read again: a redirect that it no longer lists is refused', async () => {
    const client = here.publish(here.at('/changes.json'))
    const { json } = await here.allow(client)
    here.publish(client, { redirect_uris: ['https://tool.example/new'], client_name: 'Renamed' })
    const { page } = await here.ask(client)
    expect([page.status, page.location]).toEqual([400, undefined])
    const renamed = await here.ask(client, { redirectUri: 'https://tool.example/new' })
    expect(readText(renamed.page.text)).toContain('Allow Renamed?')
    expect((await here.refresh(client, json.refresh_token)).status).toBe(200)
  })

  it('is cached as its host says', async () => {
    const client = here.publish(here.at('/cached.json'), {}, { 'cache-control': 'max-age=600' })
    expect((await here.allow(client)).status).toBe(200)
    expect(count(client)).toBe(1)
  })

  it('that cannot be read is replaced by the last one, and one that is gone is not', async () => {
    const client = here.publish(here.at('/down.json'))
    const { json } = await here.allow(client)
    here.responses.set(client, respondWith('', {}, 503))
    const renewed = await here.refresh(client, json.refresh_token)
    expect(renewed.status).toBe(200)
    here.responses.set(client, (response) => response.destroy())
    const again = await here.refresh(client, renewed.json.refresh_token)
    expect(again.status).toBe(200)
    here.responses.set(client, respondWith('', {}, 404))
    expect((await here.refresh(client, again.json.refresh_token)).json.error).toBe('invalid_client')
  })

  it('that is refused is read again 30 s later', async () => {
    const client = here.at('/late.json')
    for (const _ of [1, 2]) expect((await here.ask(client)).page.status).toBe(400)
    expect(count(client)).toBe(1)
    here.publish(client)
    here.world.advance(31)
    expect((await here.ask(client)).page.status).toBe(200)
  })
})

describe('an end that the document cannot undo', () => {
  it('is that of a suspended app, for all documents of its host', async () => {
    const [client, beside] = ['/s.json', '/beside.json'].map((path) => here.publish(here.at(path)))
    const { json } = await here.allow(client!)
    const { page: open, browser } = await here.ask(beside!)
    const where = { id: new URL(client!).origin }
    await here.world.db.app.update({ where, data: { state: 'suspended' }, select: { id: true } })
    here.world.advance(5)
    expect(await states(json.access_token, client!, json.refresh_token)).toEqual([401, 400])
    const fields = { organisation: here.world.ids.club, scope: scope.split(' '), decision: 'allow' }
    await browser.submit(open, 'consent', fields)
    expect(await here.world.db.consent.count({ where: { clientId: beside! } })).toBe(0)
    for (const one of [client!, beside!]) {
      const { page } = await here.ask(one)
      expect(page.location!.searchParams.get('error_description')).toBe('this app is suspended')
    }
    await here.world.db.app.update({ where, data: { state: 'active' }, select: { id: true } })
    expect((await here.ask(client!)).page.status).toBe(200)
  })

  it('is member-apps client remove, which suspends the app of the host', async () => {
    const client = here.publish(here.at('/removed.json', here.elsewhere))
    const { json } = await here.allow(client)
    expect(await removeClient(here.world.db, client)).toBe(1)
    here.world.advance(5)
    expect(await states(json.access_token, client, json.refresh_token)).toEqual([401, 400])
    const { page } = await here.ask(client)
    expect(page.location!.searchParams.get('error_description')).toBe('this app is suspended')
    expect((await here.rows()).clients.filter(({ id }) => id === client)).toEqual([])
    const host = new URL(client).origin
    const entries = await here.world.db.auditEntry.findMany({ where: { teamId: host }, orderBy: { id: 'asc' } })
    expect(entries.map(({ action, target }) => [action, target])).toEqual([
      ['app.update', host],
      ['client.remove', client],
    ])
    expect(entries[0]).toMatchObject({ before: { state: 'active' }, after: { state: 'suspended' } })
  })

  it('is that of a club, which members ask as for any app', async () => {
    const { ids, db } = here.world
    const client = here.publish(here.at('/club.json'))
    const app = new URL(client).origin
    const member = await mintMember(here.world)
    const open = async () => {
      const browser = approving.newBrowser()
      const { url, verifier } = approving.authorizeUrl({ client, scope, redirectUri })
      const page = await approving.toConsent(browser, url, member)
      return { page, verifier, submit: (fields: Record<string, string>) => browser.submit(page, 'consent', fields) }
    }
    const decide = (state: 'approved' | 'withdrawn') =>
      asPlatform(here.world).directory.approvals.set({ club: ids.club, app, state })
    const { page, submit } = await open()
    expect([offered(page, 'decision'), offered(page, 'ask')]).toEqual([['refuse'], [ids.club]])
    expect((await submit({ ask: ids.club })).text).toContain('has been asked')
    expect(await db.clubApproval.count({ where: { appId: app, state: 'requested' } })).toBe(1)
    await decide('approved')
    const allowed = await open()
    const back = await allowed.submit({ organisation: ids.club, scope: 'svc.me.profile:read', decision: 'allow' })
    const code = back.location!.searchParams.get('code')!
    const { json } = await approving.exchange(client, code, allowed.verifier, redirectUri)
    expect(await approving.profileStatus(json.access_token)).toBe(200)
    await decide('withdrawn')
    approving.world.advance(5)
    expect(await approving.profileStatus(json.access_token)).toBe(401)
    expect((await approving.refresh(client, json.refresh_token)).status).toBe(400)
    expect(offered((await open()).page, 'decision')).toEqual(['refuse'])
  })

  it('is the erasure of the member', async () => {
    const client = here.publish(here.at('/erased.json'))
    const member = await mintMember(here.world)
    const { json } = await here.allow(client, member)
    await platformClient(here.world).directory.people.erase.mutate({ id: member })
    here.world.advance(5)
    expect(await states(json.access_token, client, json.refresh_token)).toEqual([401, 400])
    expect(await here.world.db.consent.count({ where: { clientId: client } })).toBe(0)
  })
})
