import { beforeAll, describe, expect, it } from 'vitest'
import { messagePage } from '../../server/browser/pages/message.ts'
import { words } from '../../server/browser/words/words.ts'
import { authWorld, clubScopes, issuer } from './auth-world.ts'
import type { Browser, Page } from './browser.ts'
import { readFormAction } from './browser.ts'

const scope = 'svc.me.profile:read'

const auth = authWorld()
let outsider: string
let foreignClub: string
beforeAll(async () => {
  const { db, ids } = auth.world
  outsider = `outsider-${ids.member}`
  foreignClub = `foreign-${ids.club}`
  await db.person.create({ data: { id: outsider, firstName: 'O', lastName: 'U', email: 'o@example.org' } })
  await db.organisation.create({ data: { id: foreignClub, kind: 'club', name: 'Foreign' } })
  await db.membership.create({ data: { organisationId: foreignClub, personId: outsider } })
})

const consents = () => auth.world.db.consent.count({ where: { clientId: auth.client } })
const start = async (browser = auth.newBrowser(), asked = scope) => {
  const { url, verifier } = auth.authorizeUrl({ client: auth.client, scope: asked })
  return { browser, verifier, page: await browser.open(url) }
}
const toConsent = async (asked = scope) => {
  const { browser, page, verifier } = await start(auth.newBrowser(), asked)
  return { browser, verifier, page: await browser.submit(page, 'pick', { member: auth.world.ids.member }) }
}
const toStepUrl = (page: Page, step: string) => new URL(`${readFormAction(page)}/${step}`, page.url)
const allow = () => ({ organisation: auth.world.ids.club, scope, decision: 'allow' })

describe('a form', () => {
  const crossSite: [string, Record<string, string>][] = [
    ['another origin', { origin: 'https://evil.example' }],
    ['another port', { origin: 'http://auth.test:8080' }],
    ['nowhere', { origin: '' }],
    ['another host, by Sec-Fetch-Site', { 'sec-fetch-site': 'same-site' }],
    ['another site, with our origin', { 'sec-fetch-site': 'cross-site', origin: 'http://auth.test' }],
  ]
  it.each(crossSite)('posted from %s returns 403', async (_, headers) => {
    const { browser, page } = await start()
    const signIn = await browser.post(toStepUrl(page, 'pick'), { member: auth.world.ids.member }, headers)
    expect(signIn.status).toBe(403)
    // It signed nobody in.
    expect((await browser.open(page.url)).text).toContain('Sign in')

    const before = await consents()
    const asking = await toConsent()
    expect((await asking.browser.post(toStepUrl(asking.page, 'consent'), allow(), headers)).status).toBe(403)
    expect(await consents()).toBe(before)
  })

  it.each<[string, string, Record<string, string>, number]>([
    ['larger than 8 KB', `decision=allow&x=${'a'.repeat(9_000)}`, {}, 400],
    ['of another type', '{"decision":"allow"}', { 'content-type': 'application/json' }, 415],
    ['in parts', 'decision=allow', { 'content-type': 'multipart/form-data; boundary=x' }, 415],
    ['without a decision', 'organisation=x', {}, 400],
  ])('%s is refused with its status', async (_, body, headers, status) => {
    const before = await consents()
    const { browser, page } = await toConsent()
    expect((await browser.post(toStepUrl(page, 'consent'), body, headers)).status).toBe(status)
    expect(await consents()).toBe(before)
  })
})

describe('a consent', () => {
  it.each<[string, () => Record<string, string | string[]>]>([
    ['for a club that the member is not in', () => ({ ...allow(), organisation: foreignClub })],
    ['for no club', () => ({ scope, decision: 'allow' })],
    ['to no scope', () => ({ organisation: auth.world.ids.club, decision: 'allow' })],
    ['to a scope that was not requested', () => ({ ...allow(), scope: 'svc.me.groups:read' })],
  ])('%s is not stored', async (_, fields) => {
    const before = await consents()
    const { browser, page } = await toConsent()
    const answer = await browser.post(toStepUrl(page, 'consent'), fields())
    expect([answer.status, answer.location]).toEqual([400, undefined])
    expect(await consents()).toBe(before)
  })

  it('to more scopes than requested covers the requested ones only', async () => {
    const { browser, page, verifier } = await toConsent()
    const back = await browser.submit(page, 'consent', { ...allow(), scope: clubScopes })
    const { json } = await auth.exchange(auth.client, back.location!.searchParams.get('code')!, verifier)
    expect(json.scope).toBe(scope)
  })

  it('needs a signed-in member', async () => {
    const before = await consents()
    const { browser, page } = await start()
    const answer = await browser.post(toStepUrl(page, 'consent'), allow())
    expect([answer.status, answer.location]).toEqual([400, undefined])
    expect(await consents()).toBe(before)
  })
})

describe('an authorization request', () => {
  it('continues at the address of the issuer, whatever host its headers name', async () => {
    const { browser } = await toConsent()
    const { url } = auth.authorizeUrl({ client: auth.client, scope })
    const asked = await browser.get(url, { host: 'AUTH.test:8080', 'x-forwarded-host': 'evil.example' })
    const page = await browser.get(new URL(asked.location!.pathname, issuer))
    const answer = await browser.post(toStepUrl(page, 'consent'), allow())
    expect([answer.status, answer.location!.origin]).toEqual([303, new URL(issuer).origin])
  })
})

describe('an interaction of another browser', () => {
  it('can be neither shown nor completed', async () => {
    const before = await consents()
    const theirs = await toConsent()
    const own = await toConsent()
    const paths = ['', '/upstream', '/person', '/switch'].map(
      (step) => new URL(`${readFormAction(theirs.page)}${step}`, issuer),
    )
    const answers = [
      ...(await Promise.all(paths.map((url) => own.browser.get(url)))),
      await own.browser.post(toStepUrl(theirs.page, 'consent'), allow()),
      await own.browser.post(toStepUrl(theirs.page, 'pick'), { member: outsider }),
      // With our own cookie, sent to the other interaction's path.
      await sentWith(own.browser, own.page, toStepUrl(theirs.page, 'consent')),
      // With the other's cookie of the interaction, but our session.
      await sentWith(theirs.browser, theirs.page, toStepUrl(theirs.page, 'consent'), readSession(own.browser)),
    ]
    expect(answers.map(({ status, location }) => [status, location])).toEqual(answers.map(() => [400, undefined]))
    expect(await consents()).toBe(before)
    const resume = await own.browser.get(`${issuer}/authorize/${readFormAction(theirs.page).split('/').at(-1)}`)
    expect([resume.status, resume.location]).toEqual([400, undefined])
  })

  const readSession = ({ cookies }: Browser) => cookies.filter(({ name }) => name.startsWith('member_session'))
  const sentWith = (browser: Browser, own: Page, url: URL, more: Browser['cookies'] = []) => {
    const path = new URL(own.url).pathname
    const cookies = [...browser.cookies.filter((cookie) => cookie.path === path), ...more]
    const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
    expect(cookie).toContain('member_interaction=')
    return browser.post(url, allow(), { cookie })
  }
})

describe('a session', () => {
  it('gets a new id at sign-in, even if an id was planted before', async () => {
    const attacker = await toConsent()
    const planted = attacker.browser.cookie('member_session')!
    expect(planted).toBeDefined()
    await attacker.browser.submit(await attacker.browser.open(`${issuer}/connected`), 'sign-out', {})

    const victim = auth.newBrowser()
    const signature = attacker.browser.setCookies.findLast((line) => line.startsWith('member_session.sig='))!
    const { page } = await start(victim)
    victim.cookies.push({ ...planted }, { ...planted, name: 'member_session.sig', value: signature.split(/[=;]/)[1]! })
    await victim.submit(page, 'pick', { member: auth.world.ids.member })
    expect(victim.cookie('member_session')!.value).not.toBe(planted.value)
    const outside = auth.newBrowser()
    outside.cookies = victim.cookies.map((cookie) =>
      cookie.name === 'member_session' ? { ...cookie, value: planted.value } : cookie,
    )
    expect((await outside.open(`${issuer}/connected`)).text).toContain('Sign in')
  })

  it('is stored under a hash: the database has the id of no cookie', async () => {
    const { browser } = await toConsent()
    const secrets = ['member_session', 'member_interaction'].map((name) => browser.cookie(name)!.value)
    const stored = await auth.world.db.oauthRecord.findMany({ where: { model: { in: ['Session', 'Interaction'] } } })
    expect(stored.map(({ payload }) => payload)).toContainEqual(
      expect.objectContaining({ session: expect.objectContaining({ accountId: auth.world.ids.member }) }),
    )
    for (const secret of secrets) expect(JSON.stringify(stored)).not.toContain(secret)
  })

  it('with a forged id is ignored', async () => {
    const browser = auth.newBrowser()
    const made = { host: 'auth.test', path: '/v1/oauth', attributes: '' }
    browser.cookies = [
      { ...made, name: 'member_session', value: 'x' },
      { ...made, name: 'member_session.sig', value: 'y' },
    ]
    expect((await browser.open(`${issuer}/connected`)).text).toContain('Sign in')
  })

  it('ends when another member signs in, and its consents do not carry over', async () => {
    const { browser, page } = await toConsent()
    await browser.submit(page, 'consent', allow())
    const outside = auth.newBrowser()
    outside.cookies = [...browser.cookies]
    expect((await outside.open(`${issuer}/connected`)).text).not.toContain('Sign in')
    const asked = auth.authorizeUrl({ client: auth.client, scope, more: { prompt: 'login' } })
    const consent = await browser.submit(await browser.open(asked.url), 'pick', { member: outsider })
    expect(consent.text).toContain('O U')
    expect(consent.text).toContain(foreignClub)
    expect(consent.text).not.toContain(`value="${auth.world.ids.club}"`)
    expect(browser.cookie('member_session')!.value).not.toBe(outside.cookie('member_session')!.value)
    expect((await outside.open(`${issuer}/connected`)).text).toContain('Sign in')
  })

  it('of a member who was deleted signs nobody in', async () => {
    const { db, ids } = auth.world
    const person = `deleted-${ids.member}`
    await db.person.create({ data: { id: person, firstName: 'D', lastName: 'E', email: 'd@example.org' } })
    await db.membership.create({ data: { organisationId: ids.club, personId: person } })
    const { browser, page } = await start()
    expect((await browser.submit(page, 'pick', { member: person })).text).toContain('D E')
    await db.person.delete({ where: { id: person } })
    const again = await start(browser)
    expect([again.page.status, again.page.text]).toEqual([200, expect.stringContaining('name="member"')])
  })

  it('cannot be started for an unknown member', async () => {
    for (const member of ['nobody', '', 'a\0b', 'a'.repeat(5_000)]) {
      const { browser, page } = await start()
      const answer = await browser.post(toStepUrl(page, 'pick'), { member })
      expect([answer.status, answer.location]).toEqual([400, undefined])
    }
  })
})

describe('every page', () => {
  it('cannot be framed, run scripts, be cached, or be read from another origin', async () => {
    const { browser, page } = await toConsent()
    const wrong = await browser.get(`${issuer}/authorize?client_id=nobody`)
    const { page: signIn } = await start()
    const connected = await browser.open(`${issuer}/connected`)
    for (const { headers, text, url } of [page, signIn, wrong, connected]) {
      const policy = headers['content-security-policy']
      expect([url.pathname, policy]).toEqual([url.pathname, expect.stringContaining("default-src 'none'")])
      expect(policy).toContain("frame-ancestors 'none'")
      expect(policy).not.toMatch(/unsafe|script|form-action|\*/)
      expect(headers['x-frame-options']).toBe('DENY')
      expect(headers['cache-control']).toContain('no-store')
      expect(headers['x-content-type-options']).toBe('nosniff')
      expect(headers['access-control-allow-origin']).toBeUndefined()
      expect(text).not.toMatch(/<script|\son\w+=|javascript:/i)
    }
  })
})

const connected = '<a href="/v1/oauth/connected">Connected apps</a>'

describe('an error page', () => {
  it('for a wrong request of an app names the mistake, the request, and the way back to the app', async () => {
    const { db, ids } = auth.world
    await db.app.update({ where: { id: ids.app }, data: { homepage: 'https://app.example/' }, select: { id: true } })
    const { url } = auth.authorizeUrl({
      client: auth.client,
      scope: 'svc.me.profile:read',
      redirectUri: 'https://evil.example/',
    })
    const { status, text } = await auth.newBrowser().get(url, { 'x-request-id': 'my-request' })
    expect(status).toBe(400)
    expect(text).toContain('did not match any of the client&#39;s registered redirect_uris')
    expect(text).toContain('<code>my-request</code>')
    expect(text).toContain(
      '<a href="https://app.example/" rel="noreferrer"><span>Back to <bdi>App</bdi> (app.example)</span></a>',
    )
    expect(text).toContain(connected)
    expect(text).not.toContain('evil.example')
  })

  it.each([
    ['expired', 400, '/interaction/old'],
    ['of an unknown app', 400, '/authorize?client_id=nobody'],
    ['with a query that is too long', 400, `/authorize?state=${'x'.repeat(5_000)}`],
  ])('%s has status %i, the request id and a way on', async (_why, expected, path) => {
    const { status, text } = await auth.newBrowser().get(`${issuer}${path}`, { 'x-request-id': 'my-request' })
    expect(status).toBe(expected)
    expect(text).toContain('<code>my-request</code>')
    expect(text).toContain(connected)
  })

  it('of a form from another site has them too', async () => {
    const headers = { origin: 'https://evil.example', 'x-request-id': 'my-request' }
    const { status, text } = await auth.newBrowser().post(`${issuer}/connected/sign-out`, {}, headers)
    expect(status).toBe(403)
    expect(text).toContain('<code>my-request</code>')
    expect(text).toContain(connected)
  })

  it('offers the same address again where it may work later', () => {
    const page = (again: boolean) => messagePage({ w: words.en, message: 'unavailable', requestId: 'one', again })
    expect(page(true)).toContain('<a href="">Try again</a>')
    expect(page(false)).not.toContain('href=""')
  })
})

describe('the page after signing out', () => {
  it('has a way back in, and no request id', async () => {
    const browser = auth.newBrowser()
    const list = await browser.submit(await browser.open(`${issuer}/connected`), 'pick', {
      member: auth.world.ids.member,
    })
    const { text } = await browser.submit(list, 'sign-out', {})
    expect(text).toContain('<a href="/v1/oauth/connected">Sign in again</a>')
    expect(text).not.toContain('<code>')
  })
})

describe('the choice of a language', () => {
  it('stays in the browser, on this page and later ones, in mails, and before the browser’s and the app’s', async () => {
    const { browser, page } = await start()
    expect(page.text).toContain('aria-current="true">English</button>')
    const chosen = await browser.post(`${issuer}/language`, { language: 'fr' }, { referer: page.url.href })
    expect([chosen.status, chosen.location!.href]).toEqual([303, page.url.href])
    const again = await browser.follow(chosen)
    expect(again.text).toContain('<html lang="fr">')
    const asking = await browser.submit(again, 'pick', { member: auth.world.ids.member })
    expect(asking.text).toContain('Autoriser <bdi>')
    const { url } = auth.authorizeUrl({ client: auth.client, scope })
    expect((await browser.open(`${url}&ui_locales=de`)).text).toContain('<html lang="fr">')
    const { preferredLanguage } = await auth.world.db.person.findUniqueOrThrow({ where: { id: auth.world.ids.member } })
    expect(preferredLanguage).toBe('fr')
  })

  it.each(['https://evil.example/', 'http://auth.test.evil.example/', 'javascript:alert(1)', ''])(
    'leads to the connected apps from %j',
    async (referer) => {
      const chosen = await auth.newBrowser().post(`${issuer}/language`, { language: 'de' }, { referer })
      expect([chosen.status, chosen.location!.href]).toEqual([303, `${issuer}/connected`])
    },
  )

  it.each([
    ['an unknown language', { language: 'pt' }, {}, 400],
    ['none', {}, {}, 400],
    ['a form of another site', { language: 'fr' }, { origin: 'https://evil.example' }, 403],
  ])('refuses %s, and sets no cookie', async (_what, fields, headers, status) => {
    const browser = auth.newBrowser()
    const refused = await browser.post(`${issuer}/language`, fields as Record<string, string>, headers)
    expect(refused.status).toBe(status)
    expect(browser.cookie('language')).toBeUndefined()
  })
})
