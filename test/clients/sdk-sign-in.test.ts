import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { browserSignIn } from '../../clients/sdk/browser.ts'
import { page } from '../../clients/sdk/page.ts'
import { authWorld, redirectUri } from '../oauth/auth-world.ts'
import { registerOpenid, toApp } from '../oauth/openid-world.ts'
import { openTab } from './tab.ts'

const authBaseUrl = 'https://auth.test/v1'
const issuer = `${authBaseUrl}/oauth`
const here = authWorld({ authBaseUrl })
const scope = 'svc.me.profile:read'

/** A page in which the sample client signs in. */
function open(address?: string) {
  const tab = openTab(here.app, address)
  const own = () => browserSignIn({ issuer, clientId: here.client, redirectUri, scope, store: tab.store })
  const exchanges = () => tab.requests.filter((line) => line.endsWith('/token')).length
  return { ...tab, own, auth: own(), exchanges }
}

/** The address to which the authorization server sends the member back. */
const back = async (begun: string) => (await toApp(here, new URL(begun), here.newBrowser())).href

/** The same, after the member has signed in and come back. */
async function openAnswered() {
  const tab = open()
  await tab.auth.signIn()
  tab.location.href = await back(tab.left[0]!)
  return tab
}

describe('finish()', () => {
  it('returns where the sign-in began, and removes only the answer from the address', async () => {
    const { auth, location, left } = open('https://app.example/callback?page=2&q=a%20b&flag#top')
    await auth.signIn()
    const url = await back(left[0]!)
    location.href = url.replace('?', '?page=2&q=a%20b&flag&').concat('#top')
    expect(await auth.finish()).toBe('https://app.example/callback?page=2&q=a%20b&flag#top')
    expect(location.href).toBe('https://app.example/callback?page=2&q=a%20b&flag#top')
    expect([await auth.isSignedIn(), await auth.scopes()]).toEqual([true, [scope]])
    expect(await auth.finish()).toBeUndefined()
  })

  const others = {
    'a state of its own': 'state=BY&page=2',
    'a state and a code of its own': 'state=BY&code=DE',
    'an error of its own': 'error=404&state=x',
    'the answer of another issuer': 'code=x&state=y&iss=https%3A%2F%2Faccounts.example.com',
    'an answer without issuer': 'code=x&state=y',
    'an issuer without code or error': `state=BY&iss=${encodeURIComponent(issuer)}`,
    'an empty state': `state=&code=x&iss=${encodeURIComponent(issuer)}`,
    'what is no query of pairs': '50%&%zz==&state',
    'no query': '',
  }
  it.each(Object.entries(others))('leaves an address with %s as it is, and sends nothing', async (_, query) => {
    const { auth, location, requests } = open(`${redirectUri}?${query}`)
    expect(await auth.finish()).toBeUndefined()
    expect([location.href, requests]).toEqual([`${redirectUri}?${query}`, []])
  })

  it('forgets its tokens, which stay valid at the server', async () => {
    const { auth } = await openAnswered()
    await auth.finish()
    const token = await auth.tokens()
    await auth.forget()
    expect([await auth.isSignedIn(), await auth.scopes()]).toEqual([false, []])
    await expect(auth.tokens()).rejects.toMatchObject({ name: 'SignInNeeded' })
    expect(await here.profileStatus(token)).toBe(200)
  })

  it('leaves the answer to another client of the page, which takes it', async () => {
    const { auth, location, store } = await openAnswered()
    const other = browserSignIn({ issuer, clientId: 'another', redirectUri, scope, store })
    const url = location.href
    expect([await other.finish(), location.href]).toEqual([undefined, url])
    expect(await auth.finish()).toBe(redirectUri)
  })

  it.each([
    ['the same client with another name', { name: 'another' }],
    ['another redirect URI', { redirectUri: `${redirectUri}/other` }],
  ])('leaves the answer to the sign-in that asked for it, beside one of %s', async (_, differing) => {
    const { auth, location, store } = await openAnswered()
    const other = browserSignIn({ issuer, clientId: here.client, redirectUri, scope, store, ...differing })
    const url = location.href
    expect([await other.finish(), location.href]).toEqual([undefined, url])
    expect(await Promise.all([other.finish(), auth.finish()])).toEqual([undefined, redirectUri])
    expect([await auth.isSignedIn(), await other.isSignedIn()]).toEqual([true, !('name' in differing)])
  })

  it('takes the answer to a sign-in that a former version of the SDK began', async () => {
    const { auth } = await openAnswered()
    const [{ name: _, redirectUri: __, ...former }] = JSON.parse(page.sessionStorage.getItem('member-apps sign-ins')!)
    page.sessionStorage.setItem('member-apps sign-ins', JSON.stringify([former]))
    expect(await auth.finish()).toBe(redirectUri)
  })

  it("takes the server's own parameters, which come after those of the page", async () => {
    const { auth, location } = await openAnswered()
    location.href = location.href.replace('?', '?state=BY&error=no&')
    expect(await auth.finish()).toBe(redirectUri)
    expect(location.href).toBe(`${redirectUri}?state=BY&error=no`)
  })

  it('refuses an answer that this tab has not asked for, and removes it from the address', async () => {
    const { auth, location, requests } = open(
      `${redirectUri}?code=stolen&state=guessed&page=2&iss=${encodeURIComponent(issuer)}`,
    )
    await expect(auth.finish()).rejects.toMatchObject({ name: 'SignInFailed', code: 'not_begun_here' })
    expect([location.href, requests.filter((line) => line.startsWith('POST'))]).toEqual([`${redirectUri}?page=2`, []])
  })

  it('says that the member refused', async () => {
    const { auth, location, left } = open()
    await auth.signIn()
    const consent = await here.toConsent(here.newBrowser(), new URL(left[0]!), here.world.ids.member)
    expect(consent.status).toBe(200)
    const iss = encodeURIComponent(issuer)
    const state = new URL(left[0]!).searchParams.get('state')
    location.href = `${redirectUri}?error=access_denied&error_description=no&state=${state}&iss=${iss}&code_of=x`
    await expect(auth.finish()).rejects.toMatchObject({ code: 'access_denied' })
    expect(location.href).toBe(`${redirectUri}?code_of=x`)
  })
})

it.each([
  ['whose ID tokens are signed with ES256', 'ES256', 0],
  ['where the clock is an hour behind', 'RS256', -3_600_000],
  ['where the clock is an hour ahead', 'RS256', 3_600_000],
] as const)('signs in and renews with openid %s', async (_, idTokenAlgorithm, wrongMs) => {
  const { left, location, store } = open()
  const clientId = await registerOpenid(here)
  await here.world.db.client.update({ where: { id: clientId }, data: { idTokenAlgorithm } })
  // The service has the same Date.
  const { now } = Date
  const clock = vi.spyOn(Date, 'now')
  onTestFinished(() => clock.mockRestore())
  const { fetch: send } = globalThis
  vi.stubGlobal('fetch', async (...sent: Parameters<typeof fetch>) => {
    clock.mockImplementation(now)
    const answer = await send(...sent)
    clock.mockImplementation(() => now() + wrongMs)
    return answer
  })
  const auth = browserSignIn({ issuer, clientId, redirectUri, scope: `openid ${scope}`, store })
  await auth.signIn()
  clock.mockImplementation(now)
  location.href = await back(left[0]!)
  expect(await auth.finish()).toBe(redirectUri)
  const before = await auth.tokens()
  expect([await auth.scopes(), (await auth.tokens(before)) === before]).toEqual([['openid', scope], false])
})

describe('a sign-out', () => {
  it('ends the sign-in at the server too where the store fails', async () => {
    const { auth, store, requests } = await openAnswered()
    await auth.finish()
    const failing = {
      ...store,
      removeItem() {
        throw new Error('Not now.')
      },
    }
    const leaving = browserSignIn({ issuer, clientId: here.client, redirectUri, scope, store: failing })
    await expect(leaving.signOut()).rejects.toThrow('Not now.')
    expect(requests.at(-1)).toBe('POST /v1/oauth/revoke')
    await expect(leaving.tokens(await leaving.tokens())).rejects.toMatchObject({ name: 'SignInNeeded' })
  })
})

describe('a renewal', () => {
  it('is stored where the store cannot be read after it', async () => {
    const { auth, store, requests } = await openAnswered()
    await auth.finish()
    const before = requests.length
    const failing = {
      ...store,
      getItem(name: string) {
        if (requests.length === before) return store.getItem(name)
        throw new Error('Not now.')
      },
    }
    const renewing = browserSignIn({ issuer, clientId: here.client, redirectUri, scope, store: failing })
    const renewed = await renewing.tokens(await auth.tokens())
    expect(await auth.tokens()).toBe(renewed)
  })

  it('is not stored after a sign-out', async () => {
    const { auth, store, requests } = await openAnswered()
    await auth.finish()
    const before = requests.length
    const ended = { ...store, getItem: (name: string) => (requests.length === before ? store.getItem(name) : null) }
    const renewing = browserSignIn({ issuer, clientId: here.client, redirectUri, scope, store: ended })
    const held = await auth.tokens()
    expect(await renewing.tokens(held)).not.toBe(held)
    expect(await auth.tokens()).toBe(held)
  })
})

describe('twice at once', () => {
  it('two finish() wait for the one exchange, of one object or of two', async () => {
    for (const of of ['one', 'two']) {
      const { auth, own, exchanges } = await openAnswered()
      const found = await Promise.all([auth.finish(), (of === 'one' ? auth : own()).finish()])
      expect([found, exchanges()]).toEqual([[redirectUri, redirectUri], 1])
    }
  })

  it('two finish() are rejected with the one failure', async () => {
    const { auth } = open(`${redirectUri}?code=x&state=y&iss=${encodeURIComponent(issuer)}`)
    const found = await Promise.allSettled([auth.finish(), auth.finish()])
    expect(found.map((one) => one.status === 'rejected' && one.reason.code)).toEqual(Array(2).fill('not_begun_here'))
  })

  it('two clicks on sign-in leave the page once', async () => {
    const { auth, own, left, location } = open()
    await Promise.all([auth.signIn(), auth.signIn(), own().signIn()])
    expect(left).toHaveLength(1)
    location.href = await back(left[0]!)
    expect(await auth.finish()).toBe(redirectUri)
  })

  it('whichever of several sign-ins is answered is finished', async () => {
    for (const which of [0, 1]) {
      const { auth, left, location } = open()
      await auth.signIn()
      await auth.signIn({ prompt: 'consent' })
      location.href = await back(left[which]!)
      expect(await auth.finish()).toBe(redirectUri)
    }
  })

  it('two renewals of a refused token, of one object or of two, send one request, also without locks', async () => {
    const { auth, own, exchanges } = await openAnswered()
    await auth.finish()
    const refused = await auth.tokens()
    const [one, two, three] = await Promise.all([auth.tokens(refused), auth.tokens(refused), own().tokens(refused)])
    expect([one === refused, two, three, exchanges()]).toEqual([false, one, one, 2])
    expect(await auth.tokens(refused)).toBe(one)
  })
})
