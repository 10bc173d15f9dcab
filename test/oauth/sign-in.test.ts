import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSeal, encryptedCookies } from '../../server/browser/encrypted-cookies.ts'
import { createBrowsers } from '../../server/browser/known-browsers.ts'
import { emailCodes } from '../../server/browser/login/email-code.ts'
import { createUpstream } from '../../server/browser/login/upstream.ts'
import { memoryLimits } from '../../server/limits/memory.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { id } from '../support/tenant.ts'
import { sharedDatabase } from '../support/world.ts'
import type { AuthWorld } from './auth-world.ts'
import { issuer, startAuthWorld } from './auth-world.ts'
import type { Browser, Page } from './browser.ts'
import { offered } from './browser.ts'
import { browse, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, startProvider } from './openid-provider.ts'

const scope = 'svc.me.profile:read'
const db = sharedDatabase()
const mails = new Map<string, string>()

let provider: Awaited<ReturnType<typeof startProvider>>
let auth: AuthWorld
beforeAll(async () => {
  provider = await startProvider()
  const settings = { issuer: provider.issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, name: 'Club account' }
  const codes = emailCodes({
    db,
    now: Date.now,
    sendMail: async ({ to, text }) => void mails.set(to, /\d{8}|\d{4}\s\d{4}/.exec(text)![0]),
    onError: () => {},
    limits: memoryLimits(),
  })
  const upstream = createUpstream({ ...settings, redirectUri: REDIRECT_URI }, Date.now)
  auth = await startAuthWorld({ auth: { codes, upstream, developmentLogin: false } })
})
afterAll(async () => {
  await auth.world.close()
  await provider.stop()
})

async function person(email: string, firstName = 'Mia') {
  const created = await db.person.create({ data: { id: id('person'), firstName, lastName: 'Member', email } })
  await db.membership.create({ data: { organisationId: auth.world.ids.club, personId: created.id } })
  return created.id
}

const start = async (browser = auth.newBrowser()) => {
  const { url } = auth.authorizeUrl({ client: auth.client, scope })
  return { browser, page: await browser.open(url) }
}
const codeFor = (email: string) => expect.poll(() => mails.get(email)).toEqual(expect.any(String))

/** The `sub` of the resulting tokens. */
async function whoConsents(browser: Browser, page: Page) {
  const back = await browser.submit(page, 'consent', { organisation: auth.world.ids.club, scope, decision: 'allow' })
  expect(back.location!.searchParams.get('code')).toEqual(expect.any(String))
  const consent = await db.consent.findFirst({ where: { clientId: auth.client }, orderBy: { createdAt: 'desc' } })
  return consent!.personId
}

/** Towards the provider. */
const leave = async ({ url }: Page, browser: Browser) => {
  const away = await browser.get(new URL(`${url.pathname}/upstream`, url))
  expect(away.location!.origin).toBe(provider.issuer)
  return away.location!.href
}
const another = ({ text }: Page) => /<p class="after"><a href="([^"]+)"/.exec(text)![1]

describe('a member who signs in with a code', () => {
  it('continues to the app with the right code in the same browser', async () => {
    const email = `${id('mia')}@example.org`
    const member = await person(email)
    const { browser, page } = await start()
    const asked = await browser.submit(page, 'email', { email })
    await codeFor(email)
    const other = await start()
    const elsewhere = await other.browser.submit(other.page, 'code', { code: mails.get(email)! })
    expect(elsewhere.text).not.toContain('name="decision"')
    const wrong = await browser.submit(asked, 'code', { code: '00000000' })
    expect(wrong.status).toBe(400)
    const consent = await browser.submit(wrong, 'code', { code: mails.get(email)! })
    expect(await whoConsents(browser, consent)).toBe(member)
  })

  it('chooses who they are when several share an address, and can be nobody else', async () => {
    const email = `${id('both')}@example.org`
    const [one, two] = [await person(email, 'One'), await person(email, 'Two')]
    const { browser, page } = await start()
    const asked = await browser.submit(page, 'email', { email })
    await codeFor(email)
    const choice = await browser.submit(asked, 'code', { code: mails.get(email)! })
    expect(offered(choice, 'person').sort()).toEqual([one, two].sort())
    const stranger = await browser.submit(choice, 'person', { person: auth.world.ids.member })
    expect(stranger.status).toBe(400)
    const other = await start()
    expect((await other.browser.submit(other.page, 'person', { person: one })).status).toBe(400)
    const consent = await browser.submit(choice, 'person', { person: two })
    expect(await whoConsents(browser, consent)).toBe(two)
  })
})

describe('the page that asks for a mailed code', () => {
  it('leads back to the form of the page that was asked for, as does the choice of a member', async () => {
    const email = `${id('both')}@example.org`
    await person(email, 'One')
    await person(email, 'Two')
    const browser = auth.newBrowser()
    const address = `${issuer}/connected?page=1`
    const asked = await browser.submit(await browser.open(address), 'email', { email })
    await codeFor(email)
    const wrong = await browser.submit(asked, 'code', { code: '00000000' })
    const choice = await browser.submit(asked, 'code', { code: mails.get(email)! })
    for (const page of [asked, wrong, choice]) expect(new URL(another(page)!, issuer).href).toBe(address)
    const one = offered(choice, 'person')[0]!
    await browser.open(address)
    expect((await browser.submit(choice, 'person', { person: one })).url.href).toBe(address)
  })

  const choose = async (browser: Browser, page: Page) => {
    const languages = new URL('/v1/oauth/language', page.url)
    const chosen = await browser.follow(await browser.post(languages, { language: 'de' }, { referer: page.url.href }))
    expect([chosen.status, chosen.url.pathname]).toEqual([200, page.url.pathname])
    expect(chosen.text).toContain('<html lang="de">')
    return chosen
  }

  it.each(['known', 'unknown'])(
    'is the same after a reload, and in another language, to a %s address',
    async (kind) => {
      const email = `${id('mia')}@example.org`
      const member = kind === 'known' ? await person(email) : undefined
      const { browser, page } = await start()
      const asked = await browser.submit(page, 'email', { email })
      const again = await browser.open(asked.url)
      expect([again.status, again.text]).toEqual([200, asked.text])
      const chosen = await choose(browser, again)
      for (const text of [email, 'name="code"']) expect(chosen.text).toContain(text)
      const form = await browser.open(page.url)
      expect(form.text).toContain('name="email"')
      if (member === undefined) return
      await codeFor(email)
      const wrong = await browser.submit(chosen, 'code', { code: '00000000' })
      const consent = await browser.submit(await choose(browser, wrong), 'code', { code: mails.get(email)! })
      expect(await whoConsents(browser, consent)).toBe(member)
    },
  )

  it('gives way to the form once the code has ended, and in another browser', async () => {
    const email = `${id('mia')}@example.org`
    const { browser, page } = await start()
    const asked = await browser.submit(page, 'email', { email })
    const other = await start()
    expect((await other.browser.open(`${other.page.url}/email`)).text).toContain('name="email"')
    await db.loginCode.updateMany({ where: { email }, data: { tries: 5 } })
    const ended = await browser.submit(asked, 'code', { code: '00000000' })
    expect(ended.text).toContain('name="email"')
    for (const step of ['email', 'code'])
      expect((await browser.open(`${page.url}/${step}`)).url.href).toBe(page.url.href)
  })

  it('gives way to the form after a refused address, also reloaded, and still takes the code', async () => {
    const email = `${id('mia')}@example.org`
    const member = await person(email)
    const { browser, page } = await start()
    const asked = await browser.submit(page, 'email', { email })
    await codeFor(email)
    const refused = await browser.submit(page, 'email', { email: 'nobody' })
    expect([refused.status, (await browser.open(refused.url)).url.href]).toEqual([400, page.url.href])
    const wrong = await browser.submit(asked, 'code', { code: '00000000' })
    expect(wrong.text).toContain('name="code"')
    const consent = await browser.submit(wrong, 'code', { code: mails.get(email)! })
    expect(await whoConsents(browser, consent)).toBe(member)
  })

  it('is shown again once another address is accepted after a refused one', async () => {
    const { browser, page } = await start()
    await browser.submit(page, 'email', { email: 'nobody' })
    const asked = await browser.submit(page, 'email', { email: `${id('mia')}@example.org` })
    expect((await browser.open(asked.url)).text).toBe(asked.text)
  })

  it('leads to the choice of a member that the code has led to', async () => {
    const email = `${id('both')}@example.org`
    const members = [await person(email, 'One'), await person(email, 'Two')]
    const { browser, page } = await start()
    const asked = await browser.submit(page, 'email', { email })
    await codeFor(email)
    const choice = await choose(browser, await browser.submit(asked, 'code', { code: mails.get(email)! }))
    expect(offered(choice, 'person').sort()).toEqual([...members].sort())
    expect(await whoConsents(browser, await browser.submit(choice, 'person', { person: members[1]! }))).toBe(members[1])
  })
})

describe('a member who signs in upstream', () => {
  it('continues to the app', async () => {
    const email = `${id('mia')}@example.org`
    const member = await person(email)
    provider.accounts.set(email, { email, email_verified: true })
    const { browser, page } = await start()
    const returned = await browse(await leave(page, browser), email)
    const consent = await browser.open(returned)
    expect(await whoConsents(browser, consent)).toBe(member)
    expect(await db.loginIdentity.findMany({ where: { personId: member } })).toHaveLength(1)
  })

  it('cannot finish in another browser, or twice', async () => {
    const email = `${id('mia')}@example.org`
    await person(email)
    provider.accounts.set(email, { email, email_verified: true })
    const { browser, page } = await start()
    const returned = await browse(await leave(page, browser), email)
    const victim = await start()
    expect((await victim.browser.open(returned)).status).toBe(404)
    // Another browser with a sign-in of its own: the response is not for its request.
    await leave(victim.page, victim.browser)
    const mixed = await victim.browser.open(returned)
    expect(mixed.status).toBe(400)
    expect(mixed.text).not.toContain('name="decision"')
    expect((await browser.open(returned)).text).toContain('name="decision"')
    expect((await browser.open(returned)).status).toBe(404)
  })

  it.each([
    ['first', 0, 1],
    ['last', 1, 0],
  ])('finishes in each of two tabs when the one that left first comes back %s', async (_, next, last) => {
    const emails = [`${id('one')}@example.org`, `${id('two')}@example.org`] as const
    const members = [await person(emails[0]), await person(emails[1])]
    for (const email of emails) provider.accounts.set(email, { email, email_verified: true })
    const { browser, page } = await start()
    const pages = [page, (await start(browser)).page]
    const away = [await leave(pages[0]!, browser), await leave(pages[1]!, browser)]
    for (const at of [next, last]) {
      const consent = await browser.open(await browse(away[at]!, emails[at]!))
      expect(consent.url.pathname).not.toBe(pages[1 - at]!.url.pathname)
      expect(await whoConsents(browser, consent)).toBe(members[at])
    }
  })

  it.each(['connected?page=1', 'developers/mails'])('comes to %s in each of two tabs', async (path) => {
    const email = `${id('mia')}@example.org`
    await person(email)
    provider.accounts.set(email, { email, email_verified: true })
    const browser = auth.newBrowser()
    const address = `${issuer}/${path}`
    const pages = [await browser.open(address), await browser.open(address)]
    const away = [await leave(pages[0]!, browser), await leave(pages[1]!, browser)]
    for (const url of away) expect((await browser.open(await browse(url, email))).url.href).toBe(address)
    // Also with an address that the browser has kept.
    expect((await browser.open(new URL(`${pages[0]!.url.pathname}/person`, issuer))).url.href).toBe(address)
  })

  it('has at most 6 sign-ins under way, the latest, in 4 KB of cookies', async () => {
    const email = `${id('mia')}@example.org`
    await person(email)
    provider.accounts.set(email, { email, email_verified: true })
    const { browser, page } = await start()
    const left: URL[] = []
    for (let n = 0; n < 8; n++) left.push(await browse(await leave(page, browser), email))
    const atCallback = browser.cookies.filter(({ name, path }) => name.startsWith('member_') && /upstream$/.test(path))
    expect(atCallback).toHaveLength(6)
    const bytes = atCallback.reduce((sum, { name, value }) => sum + name.length + value.length + 3, 0)
    expect(bytes).toBeLessThan(4_096)
    // The answer of a sign-in that another one has replaced leaves those alone.
    expect((await browser.open(left[1]!)).status).toBe(400)
    expect((await browser.open(left[2]!)).text).toContain('name="decision"')
  })

  it('sees an error without a membership here', async () => {
    provider.accounts.set('nobody', { email: `${id('nobody')}@example.org`, email_verified: true })
    const { browser, page } = await start()
    const refused = await browser.open(await browse(await leave(page, browser), 'nobody'))
    expect([refused.status, refused.location]).toEqual([400, undefined])
    expect(refused.text).not.toContain('name="decision"')
  })

  it('cannot choose a member without the development login', async () => {
    const { browser, page } = await start()
    expect(offered(page, 'member')).toEqual([])
    const answer = await browser.submit(page, 'pick', { member: auth.world.ids.member })
    expect(answer.status).toBe(404)
  })
})

describe('a member whose requests go to nodes of this release and of the former one', () => {
  /** The browser's cookies as a node reads and sets them. */
  const readCookies = (browser: Browser) => {
    const seal = createSeal(createCipher(auth.world.secretsKeys), auth.world.core.now)
    const cookies = encryptedCookies({ seal, secure: false, readBrowserId: createBrowsers(seal, false).ensureId })
    const ctx = {
      req: {},
      cookies: { get: (name: string) => browser.cookie(name)?.value },
      append: (_: string, line: string) => {
        const [, name, value, path] = /^([^=]+)=([^;]*);.* path=([^;]+)/.exec(line)!
        browser.cookies = browser.cookies.filter((one) => one.name !== name)
        browser.cookies.push({
          host: new URL(issuer).hostname,
          path: path!,
          name: name!,
          value: value!,
          attributes: '',
        })
      },
    } as never
    return {
      get: (name: string) => cookies.get<unknown>(ctx, name),
      set: (name: string, path: string, value: unknown) => cookies.set(ctx, name, path, value),
    }
  }

  it('comes back from the provider to either', async () => {
    const email = `${id('mia')}@example.org`
    const member = await person(email)
    provider.accounts.set(email, { email, email_verified: true })
    const { browser, page } = await start()
    const returned = await browse(await leave(page, browser), email)
    const cookies = readCookies(browser)
    const { sent: _, ...former } = cookies.get('member_away') as Record<string, string>
    expect(former).toEqual({ id: expect.any(String), action: page.url.pathname, state: expect.any(String) })
    cookies.set('member_away', new URL(REDIRECT_URI).pathname, former)
    const consent = await browser.open(returned)
    expect(browser.cookie('member_away')).toBeUndefined()
    expect(await whoConsents(browser, consent)).toBe(member)
  })

  it('signs in to the connected apps on either', async () => {
    const email = `${id('mia')}@example.org`
    await person(email)
    const browser = auth.newBrowser()
    const page = await browser.open(`${issuer}/connected?page=1`)
    const cookies = readCookies(browser)
    expect(cookies.get('member_attempt')).toEqual(expect.any(String))
    browser.cookies = browser.cookies.filter(({ name }) => !name.startsWith('member_') || name === 'member_browser')
    const interaction = id('former')
    cookies.set('member_attempt', page.url.pathname, interaction)
    const asked = await browser.submit(page, 'email', { email })
    await codeFor(email)
    expect(await db.loginCode.count({ where: { email, interaction } })).toBe(1)
    expect((await browser.submit(asked, 'code', { code: mails.get(email)! })).url.href).toBe(`${issuer}/connected`)
  })
})
