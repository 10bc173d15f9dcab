import type * as openid from 'openid-client'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { id } from '../support/tenant.ts'
import { authWorld, issuer, redirectUri, register } from './auth-world.ts'
import { startCodeWorld } from './code-world.ts'
import { createMember } from './members.ts'
import { api, discover, everything, registerOpenid, signIn } from './openid-world.ts'

const { codes } = (await startCodeWorld()).startNode()
const auth = authWorld({ auth: { codes } })
let client: string
let config: openid.Configuration
beforeAll(async () => {
  client = await registerOpenid(auth)
})
beforeEach(async () => {
  config = await discover(auth, client)
})

type More = Record<string, string | undefined>
const ask = (more: More = {}, browser = auth.newBrowser(), of = client) =>
  browser.open(auth.authorizeUrl({ client: of, scope: everything, more }).url)
const readAnswer = ({ location }: { location: URL | undefined }) => [
  `${location?.origin}${location?.pathname}`,
  location?.searchParams.get('error'),
  location?.searchParams.get('code'),
]

describe('prompt=none', () => {
  it('answers consent_required to a client of the same team, though the member has allowed another', async () => {
    const { browser } = await signIn(auth, config)
    const other = await registerOpenid(auth)
    expect(readAnswer(await ask({ prompt: 'none' }, browser, other))).toEqual([redirectUri, 'consent_required', null])
    // As of a member who has never allowed any app.
    const nobody = await createMember(auth.world.db, { email: `${id('new')}@example.org` })
    const fresh = auth.newBrowser()
    await auth.toConsent(fresh, auth.authorizeUrl({ client: other, scope: everything }).url, nobody)
    const silent = await ask({ prompt: 'none' }, fresh, other)
    expect(readAnswer(silent)).toEqual([redirectUri, 'consent_required', null])
  })

  it.each<[string, More, string]>([
    ['a session that is too old', { max_age: '1' }, 'login_required'],
    ['a sign-in each time', { max_age: '0' }, 'login_required'],
    ['more scopes', { scope: `${everything} svc.me.groups:read` }, 'consent_required'],
    ['another organisation', { organisation: 'somewhere' }, 'consent_required'],
    ['another prompt as well', { prompt: 'none login' }, 'invalid_request'],
    ['another account', { prompt: 'none select_account' }, 'invalid_request'],
    ['an unknown prompt', { prompt: 'create' }, 'invalid_request'],
    ['a max_age that is no number', { max_age: 'soon' }, 'invalid_request'],
  ])('for %s answers with an error at the redirect URI, and asks nobody', async (_, more, error) => {
    const { browser } = await signIn(auth, config)
    auth.world.advance(2)
    const consents = () => auth.world.db.consent.count({ where: { clientId: client } })
    const before = await consents()
    expect(readAnswer(await ask({ prompt: 'none', ...more }, browser))).toEqual([redirectUri, error, null])
    expect(await consents()).toBe(before)
  })

  it('answers interaction_required to a native app, whose port another program may have', async () => {
    const native = await register(auth.world, {
      type: 'native',
      scopes: everything.split(' '),
      redirectUris: ['http://127.0.0.1/cb'],
    })
    const asked = { client: native, scope: everything, redirectUri: 'http://127.0.0.1:4000/cb' }
    const { browser } = await auth.toCode(asked)
    const silent = await browser.open(auth.authorizeUrl({ ...asked, more: { prompt: 'none' } }).url)
    expect(readAnswer(silent)).toEqual(['http://127.0.0.1:4000/cb', 'interaction_required', null])
  })

  it('never redirects to an address that is not registered', async () => {
    const page = await ask({ prompt: 'none', redirect_uri: 'https://evil.example/' })
    expect([page.status, page.location]).toEqual([400, undefined])
  })

  it('answers login_required for the ID token of another member, and as without it for that of another client', async () => {
    const { browser } = await signIn(auth, config)
    const stranger = await createMember(auth.world.db, { email: `${id('new')}@example.org` })
    const club = await auth.world.db.membership.findFirstOrThrow({ where: { personId: stranger } })
    const theirs = await auth.toTokens({ client, scope: everything }, stranger, club.organisationId)
    const hinted = await ask({ prompt: 'none', id_token_hint: theirs.id_token }, browser)
    expect(readAnswer(hinted)).toEqual([redirectUri, 'login_required', null])
    const other = await registerOpenid(auth)
    const foreign = await ask({ prompt: 'none', id_token_hint: theirs.id_token }, browser, other)
    expect(readAnswer(foreign)).toEqual([redirectUri, 'consent_required', null])
  })
})

describe('an app that wants', () => {
  it('another account gets the page to sign in, though somebody is signed in, and then the consent page', async () => {
    const { browser } = await signIn(auth, config)
    const page = await ask({ prompt: 'select_account' }, browser)
    expect(page.text).toContain('name="member"')
    const after = await browser.submit(page, 'pick', { member: auth.world.ids.member })
    expect(after.location!.searchParams.has('code')).toBe(true)
    const both = await ask({ prompt: 'select_account consent' }, browser)
    const consent = await browser.submit(both, 'pick', { member: auth.world.ids.member })
    expect(consent.text).toContain('name="decision"')
  })

  it.each([
    ['without openid', api],
    ['that is not registered for openid', `openid profile ${api}`],
  ])('another account gets the page to sign in %s, though somebody is signed in', async (_, scope) => {
    const plain = await register(auth.world, { scopes: [api] })
    const { browser } = await auth.toCode({ client: plain, scope })
    const page = await ask({ scope, prompt: 'select_account' }, browser, plain)
    expect(page.text).toContain('name="member"')
    const after = await browser.submit(page, 'pick', { member: auth.world.ids.member })
    expect(after.location!.searchParams.has('code')).toBe(true)
    expect(readAnswer(await ask({ scope, prompt: 'none select_account' }, browser, plain))).toEqual([
      redirectUri,
      'invalid_request',
      null,
    ])
  })

  it('the member of an ID token gets the page to sign in when somebody else is signed in', async () => {
    const { id_token } = await signIn(auth, config)
    const browser = auth.newBrowser()
    const stranger = await createMember(auth.world.db, { email: `${id('new')}@example.org` })
    await auth.toConsent(browser, auth.authorizeUrl({ client, scope: everything }).url, stranger)
    const page = await ask({ id_token_hint: id_token! }, browser)
    expect(page.text).toContain('name="member"')
    expect((await signIn(auth, config, { id_token_hint: id_token! }, browser)).claims.sub).toBe(auth.world.ids.member)
  })

  it('consent again gets the consent page', async () => {
    const { browser } = await signIn(auth, config)
    expect((await ask({ prompt: 'consent' }, browser)).text).toContain('name="decision"')
  })
})

describe('login_hint', () => {
  const field = (text: string) => /<input id="email"[^>]*>/.exec(text)![0]

  it('is the first value of the e-mail field, and the page is the same whether a member has the address', async () => {
    const pages = await Promise.all(
      ['mia@example.org', 'nobody@example.org'].map(async (login_hint) => {
        const { text } = await ask({ login_hint })
        expect(field(text)).toContain(`value="${login_hint}"`)
        // Other tests add members to the list meanwhile.
        return text.replaceAll(login_hint, '').replaceAll(/interaction\/[\w-]+|<option.*<\/option>/g, '')
      }),
    )
    expect(pages[0]).toBe(pages[1])
  })

  it('cannot leave its field', async () => {
    const { text } = await ask({ login_hint: '"><script>alert(1)</script>@x' })
    expect(text).not.toContain('<script>')
    expect(field(text)).toContain('value="&quot;&gt;&lt;script&gt;')
  })

  it('has no effect for a client without openid', async () => {
    const plain = await register(auth.world, { scopes: [api] })
    for (const scope of [api, `openid ${api}`]) {
      const more = { login_hint: 'mia@example.org', ui_locales: 'de' }
      const { text } = await auth.newBrowser().open(auth.authorizeUrl({ client: plain, scope, more }).url)
      expect(field(text)).not.toContain('value=')
      expect(text).toContain('<html lang="en"')
    }
  })
})

describe('ui_locales', () => {
  it.each([
    ['de', 'en', 'de'],
    ['de-AT en', 'en', 'de'],
    ['pt de', 'en', 'de'],
    ['en', 'de', 'en'],
    ['pt', 'de', 'de'],
    ['', 'de', 'de'],
    ['de;q=0, <b>', 'en', 'en'],
  ])('%j with a browser in %s shows the sign-in and the consent in %s', async (ui_locales, language, shown) => {
    const browser = auth.newBrowser()
    browser.language = language
    const page = await ask({ ui_locales }, browser)
    expect(page.text).toContain(`<html lang="${shown}"`)
    const consent = await browser.submit(page, 'pick', { member: auth.world.ids.member })
    expect(consent.text).toContain('name="decision"')
    expect(consent.text).toContain(`<html lang="${shown}"`)
  })
})

it('the discovery document names no prompt that is not supported', async () => {
  const { json } = await auth.app.get(`${issuer}/.well-known/openid-configuration`)
  expect(json.prompt_values_supported).toEqual(['none', 'login', 'consent', 'select_account'])
  expect(json.ui_locales_supported).toEqual(['en', 'de', 'fr', 'it', 'nl', 'es'])
})
