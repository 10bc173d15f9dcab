import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { authWorld, issuer, register } from './auth-world.ts'
import type { Browser, Page } from './browser.ts'
import { offered, readFormAction } from './browser.ts'
import { anyEmail, startCodeWorld } from './code-world.ts'
import { deviceFlow } from './device-world.ts'
import { createMember } from './members.ts'

const scope = 'svc.me.profile:read svc.me.groups:read'
const world = await startCodeWorld()
afterAll(() => world.close())
const auth = authWorld({ auth: { codes: world.startNode().codes } })
/** A member of another club, and that. */
let other: string
beforeAll(async () => {
  other = await createMember(auth.world.db, { email: anyEmail() })
})
let client: string
beforeEach(async () => {
  client = await register(auth.world)
})

const allow = (more: Record<string, string | string[]> = {}) => ({
  organisation: auth.world.ids.club,
  scope: scope.split(' '),
  decision: 'allow',
  ...more,
})
const toStep = (page: Page, step: string) => new URL(`${readFormAction(page)}/${step}`, page.url)
const open = async (browser = auth.newBrowser(), member = auth.world.ids.member) => {
  const { url, verifier } = auth.authorizeUrl({ client, scope })
  return { browser, verifier, url, page: await auth.toConsent(browser, url, member) }
}
const pick = (browser: Browser, page: Page, member = auth.world.ids.member) => browser.submit(page, 'pick', { member })
const redeem = async ({ location }: Page, verifier: string) => {
  const { status, json } = await auth.exchange(client, location!.searchParams.get('code')!, verifier)
  return [status, json.scope]
}
const consents = () => auth.world.db.consent.findMany({ where: { clientId: client } })

describe('a second click on Allow', () => {
  it('after the code was issued gets another code, for the same consent', async () => {
    const { browser, page, verifier } = await open()
    const first = await browser.submit(page, 'consent', allow())
    const second = await browser.submit(page, 'consent', allow())
    expect(second.location!.searchParams.get('state')).toBe('the-state')
    expect(second.location!.href).not.toBe(first.location!.href)
    expect(await redeem(second, verifier)).toEqual([200, scope])
    expect(await consents()).toHaveLength(1)
  })

  it('that drops the response with the code gets another, still signed in', async () => {
    const { browser, page, verifier } = await open()
    const { location } = await browser.post(toStep(page, 'consent'), allow())
    const before = [...browser.cookies]
    expect((await browser.get(location!)).location!.searchParams.has('code')).toBe(true)
    browser.cookies = before
    expect(await redeem(await browser.submit(page, 'consent', allow()), verifier)).toEqual([200, scope])
  })

  it('before that stores no second consent', async () => {
    const { browser, page, verifier } = await open()
    expect((await browser.post(toStep(page, 'consent'), allow())).status).toBe(303)
    const second = await browser.submit(page, 'consent', allow())
    expect(await redeem(second, verifier)).toEqual([200, scope])
    expect(await consents()).toHaveLength(1)
  })

  it('at the same time stores no second consent', async () => {
    const { browser, page, verifier } = await open()
    const both = await Promise.all([1, 2].map(() => browser.post(toStep(page, 'consent'), allow())))
    expect(both.map(({ status }) => status)).toEqual([303, 303])
    expect(await redeem(await browser.follow(both[1]!), verifier)).toEqual([200, scope])
    expect(await consents()).toHaveLength(1)
  })

  it('before that allows what its page says, where that is less', async () => {
    const { browser, page, verifier } = await open()
    await browser.post(toStep(page, 'consent'), allow())
    const second = await browser.submit(page, 'consent', allow({ scope: 'svc.me.profile:read' }))
    expect(await redeem(second, verifier)).toEqual([200, 'svc.me.profile:read'])
  })

  it('of a native app, whose port another program may have, shows the page again', async () => {
    const redirectUri = 'http://127.0.0.1:4000/cb'
    client = await register(auth.world, { type: 'native', redirectUris: ['http://127.0.0.1/cb'] })
    const browser = auth.newBrowser()
    const { url } = auth.authorizeUrl({ client, scope, redirectUri })
    const page = await auth.toConsent(browser, url, auth.world.ids.member)
    await browser.submit(page, 'consent', allow())
    const again = await browser.submit(page, 'consent', allow())
    expect(offered(again, 'decision')).toEqual(['allow', 'refuse'])
    const back = await browser.submit(again, 'consent', allow())
    expect(back.location!.searchParams.has('code')).toBe(true)
  })

  it('16 minutes later shows that the page has expired', async () => {
    const { browser, page } = await open()
    await browser.submit(page, 'consent', allow())
    auth.world.advance(16 * 60)
    const late = await browser.submit(page, 'consent', allow())
    expect([late.status, late.location]).toEqual([400, undefined])
  })

  it('in another browser of the same member shows that the page has expired', async () => {
    const { browser, page } = await open()
    await browser.submit(page, 'consent', allow())
    const elsewhere = await open()
    const path = new URL(page.url).pathname
    elsewhere.browser.cookies.push(...browser.cookies.filter((cookie) => cookie.path === path))
    const stolen = await elsewhere.browser.submit(page, 'consent', allow())
    expect([stolen.status, stolen.location]).toEqual([400, undefined])
  })
})

describe('Refuse on a page that is over', () => {
  it('shows the page again, though the member has allowed the app meanwhile', async () => {
    const { browser, page } = await open()
    await browser.submit(page, 'consent', allow())
    const again = await browser.submit(page, 'consent', { decision: 'refuse' })
    expect(offered(again, 'decision')).toEqual(['allow', 'refuse'])
    const back = await browser.submit(again, 'consent', { decision: 'refuse' })
    expect(back.location!.searchParams.get('error')).toBe('access_denied')
  })
})

describe('a second click on Sign in', () => {
  it('goes on to the consent page', async () => {
    const browser = auth.newBrowser()
    const page = await browser.open(auth.authorizeUrl({ client, scope }).url)
    await pick(browser, page)
    expect(offered(await pick(browser, page), 'decision')).toEqual(['allow', 'refuse'])
  })

  /** What follows the second one. */
  const sendCodeTwice = async (address: string | URL, browser = auth.newBrowser(), firstName = 'Mia') => {
    const email = anyEmail()
    await createMember(auth.world.db, { email, firstName })
    const asked = await browser.submit(await browser.open(address), 'email', { email })
    const code = (await world.mailServer.codesTo(email, 1)).at(-1)!
    await browser.submit(asked, 'code', { code })
    return browser.submit(asked, 'code', { code })
  }

  it('with a mailed code goes on to the consent page, though the code is used', async () => {
    const page = await sendCodeTwice(auth.authorizeUrl({ client, scope }).url)
    expect(offered(page, 'decision')).toEqual(['allow', 'refuse'])
  })

  it.each([
    ['connected', 'connected'],
    ['developers/sign-in', 'developers'],
    ['developers/mails', 'developers/mails'],
  ])('with a mailed code at %s goes on to %s', async (path, then) => {
    const { status, url } = await sendCodeTwice(`${issuer}/${path}`)
    expect([status, url.href]).toEqual([200, `${issuer}/${then}`])
  })

  it('with a mailed code for a device goes on to its consent page, also of another account', async () => {
    const flow = deviceFlow(auth)
    client = await register(auth.world, { devices: true, redirectUris: [] })
    const browser = auth.newBrowser()
    const { location } = await flow.enter((await flow.begin(client, scope)).user_code, browser)
    for (const [address, name] of [
      [location!, 'Zoe'],
      [`${location}/switch`, 'Noa'],
    ] as const) {
      const page = await sendCodeTwice(address, browser, name)
      expect([page.url.href, page.text.includes(name)]).toEqual([location!.href, true])
      expect(offered(page, 'decision')).toEqual(['allow', 'refuse'])
    }
  })
})

describe('a page that waits for the consent while its browser signs in in another tab', () => {
  const twoTabs = async (member: string) => {
    const browser = auth.newBrowser()
    const { url, verifier } = auth.authorizeUrl({ client, scope })
    const [one, two] = [await browser.open(url), await browser.open(url)]
    const page = await pick(browser, one)
    await pick(browser, two, member)
    return { browser, page, verifier }
  }

  it('shows the page again to the same member, who has allowed nothing so far', async () => {
    const { browser, page, verifier } = await twoTabs(auth.world.ids.member)
    const again = await browser.submit(page, 'consent', allow())
    expect(offered(again, 'decision')).toEqual(['allow', 'refuse'])
    expect(await consents()).toEqual([])
    expect(await redeem(await browser.submit(again, 'consent', allow()), verifier)).toEqual([200, scope])
  })

  it('shows their own page to another member, also to one who has allowed the app', async () => {
    const { browser, page } = await twoTabs(other)
    const theirs = await browser.open(auth.authorizeUrl({ client, scope }).url)
    const [organisation] = offered(theirs, 'organisation')
    const back = await browser.submit(theirs, 'consent', allow({ organisation: organisation! }))
    expect(back.location!.searchParams.has('code')).toBe(true)
    const again = await browser.submit(page, 'consent', allow())
    expect(offered(again, 'decision')).toEqual(['allow', 'refuse'])
    expect(offered(again, 'organisation')).toEqual([organisation])
    expect((await consents()).map(({ personId }) => personId)).toEqual([other])
  })

  it('asks who is there once nobody is signed in', async () => {
    const { browser, page } = await open()
    await browser.submit(await browser.open(`${issuer}/connected`), 'sign-out', {})
    expect((await browser.submit(page, 'consent', allow())).text).toContain('name="member"')
  })
})
