import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { mintApp } from '../support/platform.ts'
import { authWorld, issuer, register } from './auth-world.ts'
import { offered } from './browser.ts'
import { api, everything, registerOpenid, userinfo } from './openid-world.ts'

const auth = authWorld()
let client: string
beforeEach(async () => {
  client = await registerOpenid(auth)
})

const toTokens = (scope = everything) => auth.toTokens({ client, scope })
const ofClient = (name: string) => auth.world.db.consent.findMany({ where: { clientId: name } })

describe('the consent page of a client with OpenID Connect', () => {
  it.each([
    ['en', 'Sign you in, and recognise you', 'Read your name and picture', 'Read your e-mail address'],
    ['de', 'Anmelden, und das Mitglied', 'Name und Bild lesen', 'E-Mail-Adresse lesen'],
  ])('says in %s what is asked for, and has a fixed box for the sign-in', async (language, ...words) => {
    const browser = auth.newBrowser()
    browser.language = language
    const { url } = auth.authorizeUrl({ client, scope: everything })
    const page = await auth.toConsent(browser, url, auth.world.ids.member)
    for (const text of words) expect(page.text).toContain(text)
    expect(offered(page, 'scope')).toEqual(everything.split(' '))
    expect(page.text).toContain('value="openid" checked disabled>')
    expect(page.text).toContain('value="profile" checked>')
  })

  it('lets a member untick name and e-mail address: userinfo has the id alone, and nobody is asked again', async () => {
    const { member, club } = auth.world.ids
    const browser = auth.newBrowser()
    const { url, verifier } = auth.authorizeUrl({ client, scope: everything })
    const page = await auth.toConsent(browser, url, member)
    // A disabled box is not sent.
    const back = await browser.submit(page, 'consent', { organisation: club, scope: [api], decision: 'allow' })
    const tokens = (await auth.exchange(client, back.location!.searchParams.get('code')!, verifier)).json
    expect(tokens.scope).toBe(`openid ${api}`)
    expect((await userinfo(auth, tokens.access_token)).json).toEqual({ sub: member })
    expect(await ofClient(client)).toMatchObject([{ scopes: ['openid', api] }])
    const again = await browser.open(auth.authorizeUrl({ client, scope: everything }).url)
    expect(again.location!.searchParams.has('code')).toBe(true)
  })

  it('for a sign-in alone offers every organisation of the member, and its token opens no API', async () => {
    const { member, club, academy, provider } = auth.world.ids
    const { url } = auth.authorizeUrl({ client, scope: 'openid' })
    const page = await auth.toConsent(auth.newBrowser(), url, member)
    expect(offered(page, 'organisation')).toEqual(expect.arrayContaining([club, academy, provider]))
    const { access_token, id_token } = await toTokens('openid')
    expect(decodeJwt(id_token).sub).toBe(member)
    expect((await userinfo(auth, access_token)).json).toEqual({ sub: member })
    expect((await auth.world.call('GET', '/me/profile', { token: access_token })).status).toBe(403)
  })

  it('asks for the academy when the consent that there is was for the club', async () => {
    const { member, club, academy } = auth.world.ids
    const { browser } = await auth.toCode({ client, scope: everything }, member, club)
    const page = await browser.open(auth.authorizeUrl({ client, scope: 'openid lms.me.quizzes:read' }).url)
    expect(offered(page, 'organisation')).toEqual([academy])
  })

  it('shows what was allowed under connected apps', async () => {
    const { browser } = await auth.toCode({ client, scope: everything })
    const { text } = await browser.open(`${issuer}/connected`)
    expect(text).toContain('Read your name and picture')
    expect(text).toContain('Sign you in, and recognise you')
  })
})

describe('userinfo', () => {
  it('shows the picture of a member who has one', async () => {
    const { db, ids } = auth.world
    await db.person.update({ where: { id: ids.member }, data: { image: 'https://images.example.org/mia.jpg' } })
    const { access_token } = await toTokens()
    expect((await userinfo(auth, access_token)).json.picture).toBe('https://images.example.org/mia.jpg')
    await db.person.update({ where: { id: ids.member }, data: { image: '' } })
  })

  it('has no claim of which the member has no value', async () => {
    const { db, ids } = auth.world
    const where = { id: ids.member }
    const { access_token } = await toTokens()
    const { firstName, lastName, email } = await db.person.findUniqueOrThrow({ where })
    await db.person.update({ where, data: { lastName: '', email: '' } })
    expect((await userinfo(auth, access_token)).json).toEqual({
      sub: ids.member,
      name: firstName,
      given_name: firstName,
    })
    await db.person.update({ where, data: { firstName: '' } })
    expect((await userinfo(auth, access_token)).json).toEqual({ sub: ids.member })
    await db.person.update({ where, data: { firstName, lastName, email } })
  })

  const invalid = 'Bearer error="invalid_token", error_description="This token is not valid."'
  it.each<[string, () => Promise<string | null>, number, string]>([
    ['no token', async () => null, 401, 'Bearer realm="member-apps"'],
    ['a text', async () => 'text', 401, invalid],
    ['an ID token', async () => (await toTokens()).id_token, 401, invalid],
    ['a token of the development key', () => auth.world.token({ scope: everything }), 401, invalid],
    [
      'a token without openid',
      async () => (await toTokens(api)).access_token,
      403,
      'Bearer error="insufficient_scope", scope="openid"',
    ],
  ])('refuses %s', async (_, token, status, challenge) => {
    const sent = await token()
    const address = new URL(`${issuer}/userinfo`)
    const answer = await auth.app.send('GET', address, sent === null ? {} : { authorization: `Bearer ${sent}` })
    expect(answer.status).toBe(status)
    expect(answer.headers['www-authenticate']).toMatch(`${challenge}, resource_metadata="`)
    expect(answer.text).not.toContain('mia@')
  })

  it('refuses a token in the query or the body', async () => {
    const { access_token } = await toTokens()
    const inQuery = await auth.app.get(`${issuer}/userinfo?access_token=${access_token}`)
    const inBody = await auth.app.post(`${issuer}/userinfo`, { access_token })
    expect([inQuery.status, inBody.status]).toEqual([401, 401])
  })

  it.each<[string, (app: string, grant: string) => Promise<unknown>]>([
    [
      'the consent is withdrawn',
      (_, id) => auth.world.db.consent.update({ where: { id }, data: { withdrawnAt: new Date() } }),
    ],
    ['the app is suspended', (id) => auth.world.db.app.update({ where: { id }, data: { state: 'suspended' } })],
    [
      'the client is removed',
      () => auth.world.db.client.update({ where: { id: client }, data: { id: `${client}-x` } }),
    ],
    ['a year has passed', async () => auth.world.advance(366 * 86_400)],
  ])('refuses a token within 5 s once %s', async (_, end) => {
    const app = await mintApp(auth.world)
    client = await register(auth.world, { scopes: everything.split(' '), appId: app })
    const { access_token } = await toTokens()
    expect((await userinfo(auth, access_token)).status).toBe(200)
    await end(app, String(decodeJwt(access_token).gid))
    auth.world.advance(5)
    expect((await userinfo(auth, access_token)).status).toBe(401)
  })

  it('refuses the 61st request of a consent in a minute, and no other consent', async () => {
    const [one, other] = [await toTokens(), await toTokens()]
    for (let count = 0; count < 60; count++) expect((await userinfo(auth, one.access_token)).status).toBe(200)
    const refused = await userinfo(auth, one.access_token)
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '60'])
    expect((await userinfo(auth, other.access_token)).status).toBe(200)
  })

  it('can be called from a page of any origin', async () => {
    const preflight = await auth.app.send('OPTIONS', new URL(`${issuer}/userinfo`), { origin: 'https://app.example' })
    expect([preflight.status, preflight.headers['access-control-allow-methods']]).toEqual([204, 'GET, HEAD, POST'])
    expect(preflight.headers['access-control-allow-headers']).toContain('Authorization')
  })
})

describe('a client that loses openid', () => {
  it('renews without an ID token, and is refused at userinfo', async () => {
    const { access_token, refresh_token } = await toTokens()
    await auth.world.db.client.update({ where: { id: client }, data: { scopes: [api] } })
    auth.world.advance(5)
    expect((await userinfo(auth, access_token)).status).toBe(403)
    const { json } = await auth.refresh(client, refresh_token)
    expect([json.scope, json.id_token]).toEqual([api, undefined])
  })
})

describe('a client without openid', () => {
  it.each(['openid', 'openid profile email offline_access', 'profile', 'profile email'])(
    'asks for %s: gets what it got before',
    async (scope) => {
      const plain = await register(auth.world, { scopes: [api] })
      const { member, club } = auth.world.ids
      const { url } = auth.authorizeUrl({ client: plain, scope: `${scope} ${api}` })
      const page = await auth.toConsent(auth.newBrowser(), url, member)
      expect(offered(page, 'scope')).toEqual([api])
      const tokens = await auth.toTokens({ client: plain, scope: `${scope} ${api}` }, member, club)
      expect(Object.keys(tokens).sort()).toEqual(['access_token', 'expires_in', 'refresh_token', 'scope', 'token_type'])
      expect(tokens.scope).toBe(api)
      expect(decodeJwt(tokens.access_token).scope).toBe(api)
      expect((await ofClient(plain)).map(({ scopes }) => scopes)).toEqual([[api]])
    },
  )

  it('finds nothing of OpenID Connect in the metadata of RFC 8414', async () => {
    const { json } = await auth.app.get(`${issuer}/.well-known/oauth-authorization-server`)
    expect(JSON.stringify(json)).not.toMatch(/openid|userinfo|id_token|end_session/)
  })
})

describe('a stolen ID token', () => {
  it('opens no API', async () => {
    const { id_token } = await toTokens()
    expect((await auth.world.call('GET', '/me/profile', { token: id_token })).status).toBe(401)
  })
})
