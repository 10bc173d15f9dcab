import { beforeEach, describe, expect, it } from 'vitest'
import { authWorld, issuer, register } from './auth-world.ts'
import type { Browser } from './browser.ts'
import { offered } from './browser.ts'
import { createMember } from './members.ts'
import { api, everything, userinfo } from './openid-world.ts'

const endpoint = `${issuer}/end-session`
const bye = 'https://app.example/bye'

const auth = authWorld()
let client: string
let browser: Browser
let tokens: Awaited<ReturnType<typeof auth.toTokens>>
beforeEach(async () => {
  client = await register(auth.world, { scopes: everything.split(' '), postLogoutRedirectUris: [bye] })
  browser = auth.newBrowser()
  tokens = await auth.toTokens({ client, scope: everything }, auth.world.ids.member, auth.world.ids.club, browser)
})

const ask = (fields: Record<string, string>, from = browser) => from.open(`${endpoint}?${new URLSearchParams(fields)}`)
const hinted = (more: Record<string, string> = {}) => ({
  id_token_hint: tokens.id_token,
  post_logout_redirect_uri: bye,
  state: 'the-state',
  ...more,
})
const isSignedIn = async (one = browser) => !(await one.open(`${issuer}/connected`)).text.includes('name="member"')

describe('a sign-out that an app asks for', () => {
  it('asks the member, ends their session, and returns to the registered address with state', async () => {
    const page = await ask(hinted())
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('Sign out of this browser?')])
    expect(page.text).toContain('<bdi>App</bdi> asks you to.')
    expect(await isSignedIn()).toBe(true)
    const [query] = offered(page, 'query')
    expect(query).not.toContain('id_token_hint')
    const back = await browser.submit(page, 'confirm', { query: query!.replaceAll('&amp;', '&'), decision: 'end' })
    expect([back.status, back.location!.href]).toEqual([303, `${bye}?state=the-state`])
    expect(await isSignedIn()).toBe(false)
  })

  it('leaves the access of apps as it is', async () => {
    const page = await ask({})
    await browser.submit(page, 'confirm', { query: '', decision: 'end' })
    auth.world.advance(5)
    expect((await userinfo(auth, tokens.access_token)).status).toBe(200)
    expect((await auth.refresh(client, tokens.refresh_token)).status).toBe(200)
  })

  it('returns to the app, and ends nothing, when the member stays signed in', async () => {
    const page = await ask(hinted())
    const query = new URLSearchParams({ client_id: client, post_logout_redirect_uri: bye }).toString()
    const back = await browser.submit(page, 'confirm', { query, decision: 'stay' })
    expect(back.location!.href).toBe(bye)
    expect(await isSignedIn()).toBe(true)
  })

  it('without an address shows that the member is signed out', async () => {
    const page = await ask({ id_token_hint: tokens.id_token })
    const after = await browser.submit(page, 'confirm', { query: `client_id=${client}`, decision: 'end' })
    expect([after.status, after.text]).toEqual([200, expect.stringContaining('signed out')])
    expect(await isSignedIn()).toBe(false)
  })

  it('returns at once when nobody is signed in', async () => {
    const back = await ask(hinted(), auth.newBrowser())
    expect(back.location!.href).toBe(`${bye}?state=the-state`)
    const named = await ask({ client_id: client, post_logout_redirect_uri: bye }, auth.newBrowser())
    expect(named.location!.href).toBe(bye)
  })

  it.each([3_500, 3_800])('returns a state of %d characters', async (length) => {
    const state = 's'.repeat(length)
    const page = await ask({ client_id: client, post_logout_redirect_uri: bye, state })
    const query = offered(page, 'query')[0]!.replaceAll('&amp;', '&')
    const back = await browser.submit(page, 'confirm', { query, decision: 'stay' })
    expect(back.location!.href).toBe(`${bye}?state=${state}`)
  })

  it('asks in the language of ui_locales', async () => {
    expect((await ask(hinted({ ui_locales: 'de' }))).text).toContain('In diesem Browser abmelden?')
  })

  it('takes an ID token that has expired, and that of another member', async () => {
    const { id_token_hint } = hinted()
    auth.world.advance(86_400)
    expect((await ask({ id_token_hint }, auth.newBrowser())).status).toBe(200)
    const other = auth.newBrowser()
    const stranger = await createMember(auth.world.db, { email: '' })
    await auth.toConsent(other, auth.authorizeUrl({ client, scope: everything }).url, stranger)
    expect((await ask(hinted(), other)).text).toContain('Sign out of this browser?')
  })

  it('may be posted from a page of the app: it is repeated by GET', async () => {
    const posted = await browser.post(endpoint, hinted(), { origin: 'https://app.example' })
    expect(posted.status).toBe(303)
    expect((await browser.follow(posted)).text).toContain('Sign out of this browser?')
    expect(await isSignedIn()).toBe(true)
  })
})

describe('a sign-out shows an error page, redirects nowhere and ends nothing', () => {
  const unregistered = 'post_logout_redirect_uri is not registered for this client'
  const unnamed = 'post_logout_redirect_uri needs client_id, or an id_token_hint of the client'
  it.each<[string, string, () => Record<string, string> | Promise<Record<string, string>>]>([
    ['for another address', unregistered, () => hinted({ post_logout_redirect_uri: 'https://evil.example/' })],
    ['for a path below', unregistered, () => hinted({ post_logout_redirect_uri: `${bye}/more` })],
    [
      ...(['for an address with a query', unregistered] as const),
      () => hinted({ post_logout_redirect_uri: `${bye}?to=https://evil.example` }),
    ],
    [
      ...(['for the host with a suffix', unregistered] as const),
      () => hinted({ post_logout_redirect_uri: 'https://app.example.evil.example/bye' }),
    ],
    [
      ...(['for a redirect URI', unregistered] as const),
      () => hinted({ post_logout_redirect_uri: 'https://app.example/callback' }),
    ],
    ['for a script', unregistered, () => hinted({ post_logout_redirect_uri: 'javascript:alert(1)' })],
    ['for an address without a client', unnamed, () => ({ post_logout_redirect_uri: bye })],
    ['for an access token, and no client', unnamed, () => hinted({ id_token_hint: tokens.access_token })],
    ['for a text, and no client', unnamed, () => hinted({ id_token_hint: 'text' })],
    [
      ...(['for the address of another client than client_id', unregistered] as const),
      async () => hinted({ client_id: await register(auth.world) }),
    ],
    [
      ...(['for a client that does not exist', 'client_id names no client'] as const),
      () => ({ client_id: 'nobody', post_logout_redirect_uri: bye }),
    ],
    [
      ...(['for a client with a NUL', 'client_id names no client'] as const),
      () => ({ client_id: 'a\0', post_logout_redirect_uri: bye }),
    ],
    ['for a query above 4 KB', 'the query is longer than 4 KB', () => hinted({ more: 'a'.repeat(4_096) })],
  ])('%s, with the detail %j in both languages', async (_, detail, fields) => {
    const [asked, nobody] = [await fields(), auth.newBrowser()]
    const german = auth.newBrowser()
    german.language = 'de'
    for (const from of [browser, nobody, german]) {
      const page = await ask(asked, from)
      expect([page.status, page.location]).toEqual([400, undefined])
      expect(page.text).not.toContain('evil.example')
      expect(page.text).toContain(`<p class="detail" lang="en" dir="auto">${detail}</p>`)
    }
    const page = await browser.post(`${endpoint}/confirm`, { query: `${new URLSearchParams(asked)}`, decision: 'end' })
    expect([page.status, page.location]).toEqual([400, undefined])
    expect(page.text).toContain('class="detail"')
    expect(await isSignedIn()).toBe(true)
  })

  it('for an unknown decision, and for a body that is no form', async () => {
    const wrong = await browser.post(`${endpoint}/confirm`, { query: '', decision: 'x' })
    expect([wrong.status, wrong.text]).toEqual([
      400,
      expect.stringContaining('A field of the form is missing or wrong.'),
    ])
    const posted = await browser.post(endpoint, '{}', { 'content-type': 'application/json' })
    expect([posted.status, posted.text]).toEqual([400, expect.stringContaining('class="detail"')])
    expect(await isSignedIn()).toBe(true)
  })

  it('once the redirect URI at its host is removed', async () => {
    const data = { redirectUris: ['https://new.example/callback'] }
    await auth.world.db.client.update({ where: { id: client }, data })
    const page = await ask(hinted())
    expect([page.status, page.location]).toEqual([400, undefined])
  })

  it('from a form of another site', async () => {
    const fields = { query: '', decision: 'end' }
    const page = await browser.post(`${endpoint}/confirm`, fields, { origin: 'https://app.example' })
    expect(page.status).toBe(403)
    expect(await isSignedIn()).toBe(true)
  })
})

it('a client without an address for it gets none', async () => {
  const plain = await register(auth.world, { scopes: [api] })
  const page = await ask({ client_id: plain, post_logout_redirect_uri: bye })
  expect(page.status).toBe(400)
  expect((await ask({ client_id: plain })).text).toContain('Sign out of this browser?')
})
