import { beforeAll, describe, expect, it } from 'vitest'
import { words } from '../../server/browser/words/words.ts'
import { MAX_DEVICE_CODES } from '../../server/oauth/endpoints/app-routes.ts'
import { hashOfToken } from '../../server/oauth/engine/refresh-rotation.ts'
import { MAX_WRONG_CODES } from '../../server/oauth/pages/device.ts'
import { mintMember } from '../support/app-server.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { mintApp } from '../support/platform.ts'
import { authWorld, issuer, register } from './auth-world.ts'
import type { Browser, Page } from './browser.ts'
import { offered, readFormAction } from './browser.ts'
import { deviceFlow } from './device-world.ts'

const scope = 'svc.me.profile:read'

const here = authWorld({ trustedProxies: ['127.0.0.1'] })
let client: string
let flow: ReturnType<typeof deviceFlow>
let network = 0
/** A browser of a network of its own. */
const newBrowser = () => {
  const browser = here.newBrowser()
  browser.headers = { 'x-forwarded-for': `2001:db8:1:${(++network).toString(16)}::1` }
  return browser
}
beforeAll(async () => {
  client = await register(here.world, { devices: true, redirectUris: [] })
  flow = deviceFlow({ ...here, newBrowser })
})

const readRow = (device: string) =>
  here.world.db.oauthRecord.findUnique({ where: { of: { model: 'DeviceCode', id: hashOfToken(device) } } })
const consents = (of = client) => here.world.db.consent.count({ where: { clientId: of, withdrawnAt: null } })
const allowing = () => ({ organisation: here.world.ids.club, scope, decision: 'allow' })
const toDecision = (code: string, browser = newBrowser()) => flow.toDecision(code, here.world.ids.member, browser)
const toStepUrl = (page: Page, step: string) => new URL(`${readFormAction(page)}/${step}`, page.url)
/** The device still waits, and nothing was allowed. */
const waits = async (device: string, before: number) => {
  here.world.advance(5)
  expect((await flow.poll(client, device)).json.error).toBe('authorization_pending')
  expect(await consents()).toBe(before)
}

describe('a code', () => {
  it('is stored as hashes alone', async () => {
    const { device_code, user_code } = await flow.begin(client, scope)
    const stored = JSON.stringify(await readRow(device_code))
    expect(stored).toContain(client)
    for (const code of [device_code, user_code, user_code.replace('-', '')]) expect(stored).not.toContain(code)
    for (const address of ['127.0.0.1', 'user-agent', 'userAgent']) expect(stored).not.toContain(address)
  })

  it.each<[string, (code: string) => string]>([
    ['in lower case', (code) => code.toLowerCase()],
    ['without its dash', (code) => code.replace('-', '')],
    ['with spaces and another dash', (code) => ` ${code.replace('-', ' – ')}\u00a0`],
  ])('typed %s is the same', async (_, typed) => {
    const { user_code } = await flow.begin(client, scope)
    expect((await flow.enter(typed(user_code), newBrowser())).status).toBe(303)
  })

  it.each<[string, (code: string) => string]>([
    ['with a NUL', (code) => `${code}\0`],
    ['with a NUL in it', (code) => code.replace('-', '\0')],
    ['with a letter more', (code) => `${code}B`],
    ['very long', (code) => code.repeat(500)],
    ['in part', (code) => code.slice(0, 7)],
    ['empty', () => ''],
    ['with a wildcard', (code) => `${code.slice(0, 8)}%`],
    ['of markup', () => '"><script>alert(1)</script>'],
  ])('typed %s is wrong, and changes nothing', async (_, typed) => {
    const { device_code, user_code } = await flow.begin(client, scope)
    const before = await readRow(device_code)
    const browser = newBrowser()
    const page = await flow.enter(typed(user_code), browser)
    expect([page.status, page.location]).toEqual([400, undefined])
    expect(page.text).toContain('This code is wrong, or no longer valid.')
    expect(page.text).not.toContain('<script')
    expect(await readRow(device_code)).toEqual(before)
  })

  it('in the address fills the form, and does no more', async () => {
    const { device_code, user_code, verification_uri_complete } = await flow.begin(client, scope)
    const before = await consents()
    const browser = newBrowser()
    const [signedIn] = await toDecision((await flow.begin(client, scope)).user_code, browser)
    expect(signedIn.status).toBe(200)
    const page = await browser.open(verification_uri_complete)
    expect([page.status, offered(page, 'user_code')]).toEqual([200, [user_code]])
    expect(page.text).toContain('If somebody sent you the code or a link to this page, close it')
    await waits(device_code, before)
  })

  it.each(['"><script>alert(1)</script>', 'BCDF-GHJK"', 'a\0b', '%00', 'B'.repeat(3_000)])(
    'in the address as %j is not shown',
    async (code) => {
      const page = await newBrowser().get(`${issuer}/device?user_code=${encodeURIComponent(code)}`)
      expect([page.status, offered(page, 'user_code')]).toEqual([200, ['']])
    },
  )

  it('that was decided on cannot be entered again', async () => {
    const { user_code } = await flow.begin(client, scope)
    const [page, browser] = await toDecision(user_code)
    await flow.decideOn(page, browser, allowing())
    const before = await consents()
    expect((await flow.enter(user_code, newBrowser())).status).toBe(400)
    const again = await browser.post(toStepUrl(page, 'consent'), allowing())
    expect(again.status).toBe(400)
    expect(await consents()).toBe(before)
  })

  /** The second tap is sent before the answer to the first one has come. */
  const tapTwice = async (page: Page, browser: Browser, fields: Record<string, string>, between = async () => {}) => {
    const cookies = [...browser.cookies]
    await browser.post(toStepUrl(page, 'consent'), fields)
    await between()
    browser.cookies = cookies
    return browser.post(toStepUrl(page, 'consent'), fields)
  }

  it.each(['waits', 'has its tokens'])(
    'that is allowed twice while its device %s shows the same again',
    async (when) => {
      const { device_code, user_code } = await flow.begin(client, scope, { ui_locales: 'de' })
      const [page, browser] = await toDecision(user_code)
      const before = await consents()
      const getTokens = async () => expect((await flow.poll(client, device_code)).status).toBe(200)
      const again = await tapTwice(page, browser, allowing(), when === 'waits' ? undefined : getTokens)
      expect([again.status, again.text]).toEqual([200, expect.stringContaining(words.de.messages.deviceAllowed.title)])
      expect(await consents()).toBe(before + 1)
      if (when === 'waits') await getTokens()
      expect((await browser.post(toStepUrl(page, 'consent'), allowing())).status).toBe(400)
    },
  )

  it('that is allowed while the first form is being stored shows the same, and gives one consent', async () => {
    const { device_code, user_code } = await flow.begin(client, scope)
    const [page, browser] = await toDecision(user_code)
    const before = await consents()
    const { payload } = (await readRow(device_code))!
    const of = { model: 'DeviceCode', id: hashOfToken(device_code) }
    const decided = {
      ...(payload as object),
      accountId: here.world.ids.member,
      page: page.url.pathname.split('/').at(-1),
    }
    const again = await meanwhile(
      here.world.db,
      (tx) => tx.oauthRecord.update({ where: { of }, data: { payload: decided } }),
      () => browser.post(toStepUrl(page, 'consent'), allowing()),
    )
    expect([again.status, again.text]).toEqual([200, expect.stringContaining('The device is connected')])
    expect(await consents()).toBe(before)
  })

  it('that is refused twice shows the same again, and what was decided first', async () => {
    const { device_code, user_code } = await flow.begin(client, scope)
    const [page, browser] = await toDecision(user_code)
    const before = await consents()
    const cookies = [...browser.cookies]
    for (const decision of ['refuse', 'allow']) {
      browser.cookies = [...cookies]
      const again = await tapTwice(page, browser, { ...allowing(), decision })
      expect([again.status, again.text]).toEqual([200, expect.stringContaining('The device was refused')])
    }
    expect(await consents()).toBe(before)
    expect((await flow.poll(client, device_code)).json.error).toBe('access_denied')
  })

  it.each([
    ['allow', words.de.messages.deviceAllowed.title],
    ['refuse', words.de.messages.deviceRefused.title],
  ])('that is decided on by %s shows so after a reload, and in another language', async (decision, title) => {
    const { user_code } = await flow.begin(client, scope)
    const [page, browser] = await toDecision(user_code)
    const before = await consents()
    const done = await flow.decideOn(page, browser, { ...allowing(), decision })
    const after = await consents()
    expect(after).toBe(decision === 'allow' ? before + 1 : before)
    const chosen = await browser.post(`${issuer}/language`, { language: 'de' }, { referer: done.url.href })
    for (const again of [await browser.follow(chosen), await browser.open(page.url)])
      expect([again.status, again.text]).toEqual([200, expect.stringContaining(title)])
    expect((await newBrowser().open(page.url)).status).toBe(400)
    expect(await consents()).toBe(after)
  })

  it('that another member has allowed tells nobody else', async () => {
    const { user_code } = await flow.begin(client, scope)
    const [page, browser] = await toDecision(user_code)
    const [theirs, other] = await flow.toDecision(user_code, await mintMember(here.world), newBrowser())
    await flow.decideOn(theirs, other, allowing())
    const late = await browser.post(toStepUrl(page, 'consent'), allowing())
    expect([late.status, late.text]).toEqual([400, expect.stringContaining('This page has expired')])
    expect(late.text).not.toContain('No access')
  })

  it('that was entered in two browsers is decided on once', async () => {
    const { device_code, user_code } = await flow.begin(client, scope)
    const both = [await toDecision(user_code), await toDecision(user_code)]
    const before = await consents()
    const answers = await Promise.all(both.map(([page, browser]) => flow.decideOn(page, browser, allowing())))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400])
    expect(await consents()).toBe(before + 1)
    expect((await flow.poll(client, device_code)).status).toBe(200)
  })

  it('is removed 10 minutes after its end', async () => {
    const before = here.world.now()
    const { device_code } = await flow.begin(client, scope)
    const end = (await readRow(device_code))!.expiresAt!.getTime() / 1000 - 1_200
    expect(end).toBeGreaterThanOrEqual(before)
    expect(end).toBeLessThanOrEqual(here.world.now() + 1)
    // As housekeeping does then (test/housekeeping/periods.test.ts).
    const of = { model: 'DeviceCode', id: hashOfToken(device_code) }
    await here.world.db.oauthRecord.delete({ where: { of } })
    expect((await flow.poll(client, device_code)).json.error).toBe('invalid_grant')
  })
})

describe('a network', () => {
  const guess = (browser: Browser) => flow.enter('BCDF-GHJK', browser)

  it(`gets 429 after ${MAX_WRONG_CODES} wrong codes, then even for a right one`, async () => {
    const browser = newBrowser()
    const answers = await Promise.all(Array.from({ length: MAX_WRONG_CODES + 5 }, () => guess(browser)))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 400)).toHaveLength(MAX_WRONG_CODES)
    expect(statuses.filter((status) => status === 429)).toHaveLength(5)
    const { user_code } = await flow.begin(client, scope)
    const late = await flow.enter(user_code, browser)
    expect([late.status, Number(late.headers['retry-after'])]).toEqual([429, expect.any(Number)])
    expect((await flow.enter(user_code, newBrowser())).status).toBe(303)
  })

  it('enters any number of right codes', async () => {
    const browser = newBrowser()
    const { user_code } = await flow.begin(client, scope)
    for (let at = 0; at < MAX_WRONG_CODES + 2; at++) expect((await flow.enter(user_code, browser)).status).toBe(303)
  })

  it(`gets at most ${MAX_DEVICE_CODES} device codes a minute, and others get theirs`, async () => {
    const from = { 'x-forwarded-for': '2001:db8:2::1' }
    const ask = () => flow.authorize({ client_id: client, scope }, from)
    const answers = await Promise.all(Array.from({ length: MAX_DEVICE_CODES + 2 }, ask))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused).toHaveLength(2)
    expect([refused[0]!.json.error, refused[0]!.headers['retry-after']]).toEqual([
      'temporarily_unavailable',
      expect.any(String),
    ])
    expect((await flow.authorize({ client_id: client, scope })).status).toBe(200)
  })
})

describe('a device code', () => {
  const allowed = async () => {
    const begun = await flow.begin(client, scope)
    const [page, browser] = await toDecision(begun.user_code)
    await flow.decideOn(page, browser, allowing())
    return begun.device_code
  }

  it('of another client gets no tokens, and stays usable by its own', async () => {
    const stranger = await register(here.world, { devices: true })
    const code = await allowed()
    const { status, json } = await flow.poll(stranger, code)
    expect([status, json.error]).toEqual([400, 'invalid_grant'])
    expect((await flow.poll(client, code)).status).toBe(200)
  })

  it('works once, and what it got stays', async () => {
    const code = await allowed()
    const { json } = await flow.poll(client, code)
    const again = await flow.poll(client, code)
    expect([again.status, again.json.error]).toEqual([400, 'invalid_grant'])
    expect((await here.refresh(client, json.refresh_token)).status).toBe(200)
  })

  it.each(['', 'nothing', 'a\0b', 'a'.repeat(5_000)])('%j gets no tokens', async (code) => {
    const { status, json } = await flow.poll(client, code)
    expect([status, json.error]).toEqual([400, code === '' ? 'invalid_request' : 'invalid_grant'])
  })

  it('is no authorization code and no refresh token', async () => {
    const code = await allowed()
    for (const fields of [
      { grant_type: 'authorization_code', code, redirect_uri: 'https://app.example/', code_verifier: 'a'.repeat(43) },
      { grant_type: 'refresh_token', refresh_token: code },
    ]) {
      const { status } = await here.token({ client_id: client, ...fields } as Record<string, string>)
      expect(status).toBe(400)
    }
    expect((await flow.poll(client, code)).status).toBe(200)
  })

  it('of a consent that was withdrawn before it was used gets no tokens', async () => {
    const code = await allowed()
    const browser = newBrowser()
    const connected = await here.toConsent(browser, new URL(`${issuer}/connected`), here.world.ids.member)
    const [consent] = await here.world.db.consent.findMany({ where: { clientId: client, withdrawnAt: null } })
    await browser.submit(connected, 'withdraw', { consent: consent!.id })
    expect((await flow.poll(client, code)).json.error).toBe('invalid_grant')
  })
})

describe('a form of the pages for devices', () => {
  const elsewhere: [string, Record<string, string>][] = [
    ['another origin', { origin: 'https://evil.example' }],
    ['nowhere', { origin: '' }],
    ['another site, with our origin', { 'sec-fetch-site': 'cross-site', origin: 'http://auth.test' }],
  ]
  it.each(elsewhere)('posted from %s is refused', async (_, headers) => {
    const { device_code, user_code } = await flow.begin(client, scope)
    const before = await consents()
    const entered = await newBrowser().post(`${issuer}/device`, { user_code }, headers)
    expect([entered.status, entered.location]).toEqual([403, undefined])
    const [page, browser] = await toDecision(user_code)
    expect((await browser.post(toStepUrl(page, 'consent'), allowing(), headers)).status).toBe(403)
    await waits(device_code, before)
  })

  it('posted without having entered the code is refused', async () => {
    const { device_code, user_code } = await flow.begin(client, scope)
    const [page] = await toDecision(user_code)
    const before = await consents()
    const other = newBrowser()
    await toDecision((await flow.begin(client, scope)).user_code, other)
    expect((await other.post(toStepUrl(page, 'consent'), allowing())).status).toBe(400)
    await waits(device_code, before)
  })

  it('shown to another member is shown again, to the one who is now signed in', async () => {
    const { device_code, user_code } = await flow.begin(client, scope)
    const before = await consents()
    const [page, browser] = await toDecision(user_code)
    const connected = await browser.open(`${issuer}/connected`)
    await browser.submit(connected, 'sign-out', {})
    const signedOut = await browser.post(toStepUrl(page, 'consent'), allowing())
    expect([signedOut.status, signedOut.location?.href]).toEqual([303, page.url.href])
    expect((await browser.open(page.url)).text).toContain('name="member"')
    await waits(device_code, before)
  })

  it.each<[string, Record<string, string>, string]>([
    ['without a decision', {}, 'The request is not valid'],
    ['for a foreign organisation', { decision: 'allow', organisation: 'elsewhere', scope }, 'Please choose one'],
    ['without a scope', { decision: 'allow', organisation: 'own' }, 'Nothing is ticked'],
  ])('sent %s is refused', async (_, fields, text) => {
    const { device_code, user_code } = await flow.begin(client, scope)
    const before = await consents()
    const [page, browser] = await toDecision(user_code)
    const organisation = fields.organisation === 'own' ? here.world.ids.club : fields.organisation
    const answer = await browser.post(toStepUrl(page, 'consent'), { ...fields, ...(organisation && { organisation }) })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(text)])
    await waits(device_code, before)
  })

  it('leads nowhere but to its own pages', async () => {
    const { user_code } = await flow.begin(client, scope, {
      redirect_uri: 'https://evil.example/',
      post_logout_redirect_uri: 'https://evil.example/',
    })
    const entered = await newBrowser().post(`${issuer}/device?next=https://evil.example/`, {
      user_code,
      redirect_uri: 'https://evil.example/',
      next: 'https://evil.example/',
    })
    expect(entered.location!.href).toMatch(new RegExp(`^${issuer}/device/request/[0-9a-f-]{36}$`))
  })

  it('stands on pages that cannot be framed, run scripts, be cached, or be read from another origin', async () => {
    const { user_code } = await flow.begin(client, scope)
    const browser = newBrowser()
    const form = await browser.get(`${issuer}/device`)
    const wrong = await enterGuess(browser)
    const [consent] = await toDecision(user_code, browser)
    const done = await flow.decideOn(consent, browser, allowing())
    for (const { headers, text } of [form, wrong, consent, done]) {
      expect(headers['content-security-policy']).toMatch(/^default-src 'none';.*frame-ancestors 'none'/)
      expect(headers['content-security-policy']).not.toMatch(/unsafe|script|\*/)
      expect(headers['x-frame-options']).toBe('DENY')
      expect(headers['cache-control']).toContain('no-store')
      expect(headers['access-control-allow-origin']).toBeUndefined()
      expect(text).not.toMatch(/<script|\son\w+=|javascript:/i)
    }
  })
  const enterGuess = (browser: Browser) => flow.enter('BCDF-GHJK', browser)
})

describe('a request for codes', () => {
  it.each<[string, Record<string, string>]>([
    ['with a NUL', { organisation: 'a\0b' }],
    ['of more than 4 KB', { organisation: 'a'.repeat(4_097) }],
    ['for another API', { resource: 'https://other.example' }],
  ])('%s is refused, and stores nothing', async (_, more) => {
    const own = await register(here.world, { devices: true })
    expect((await flow.authorize({ client_id: own, scope, ...more })).status).toBe(400)
    const where = { model: 'DeviceCode', payload: { path: ['clientId'], equals: own } }
    expect(await here.world.db.oauthRecord.count({ where })).toBe(0)
  })

  it.each<[string, Record<string, string>, number]>([
    ['of an unknown client', { client_id: 'nobody' }, 401],
    ['without a client', {}, 400],
  ])('%s is refused', async (_, fields, status) => {
    expect((await flow.authorize({ scope, ...fields })).status).toBe(status)
  })
})

describe('the consent page for a device', () => {
  it('names the app, its team and the code, and warns of codes from others, in the languages of the request', async () => {
    const begun = await flow.begin(client, scope, { ui_locales: 'de' })
    const browser = newBrowser()
    const [page] = await toDecision(begun.user_code, browser)
    for (const text of [
      begun.user_code,
      '<bdi>App</bdi> zulassen?',
      'Eine App von',
      'Kam der Code oder ein Link von jemand anderem: bitte ablehnen.',
    ]) {
      expect(page.text).toContain(text)
    }
    const other = await flow.begin(client, scope)
    const [inEnglish] = await toDecision(other.user_code)
    expect(inEnglish.text).toContain('If somebody sent you the code or a link, refuse')
  })

  it('is shown each time, also for what was allowed before', async () => {
    const browser = newBrowser()
    for (let time = 0; time < 2; time++) {
      const { device_code, user_code } = await flow.begin(client, scope)
      const [page] = await toDecision(user_code, browser)
      expect(page.text).toContain(user_code)
      await flow.decideOn(page, browser, allowing())
      expect((await flow.poll(client, device_code)).status).toBe(200)
    }
  })

  it('lets the member switch the account, and signs nobody out before', async () => {
    const { user_code } = await flow.begin(client, scope)
    const [page, browser] = await toDecision(user_code)
    expect((await browser.get(toStepUrl(page, 'switch'))).text).toContain('name="member"')
    const again = await browser.open(page.url)
    expect(again.text).toContain(user_code)
    const { member } = here.world.ids
    const switched = await browser.submit(await browser.get(toStepUrl(page, 'switch')), 'pick', { member })
    expect(switched.text).toContain(user_code)
  })

  it('of an app that was suspended meanwhile allows nothing, and the device learns of it', async () => {
    const app = await mintApp(here.world)
    const own = await register(here.world, { appId: app, devices: true, redirectUris: [] })
    const { device_code, user_code } = await flow.begin(own, scope)
    const [page, browser] = await toDecision(user_code)
    await here.world.db.app.update({ where: { id: app }, data: { state: 'suspended' } })
    const answer = await browser.post(toStepUrl(page, 'consent'), allowing())
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('this app is suspended')])
    expect(await consents(own)).toBe(0)
    expect((await flow.poll(own, device_code)).json.error).toBe('unauthorized_client')
    expect((await flow.authorize({ client_id: own, scope })).json).toMatchObject({
      error: 'unauthorized_client',
      error_description: 'this app is suspended',
    })
  })

  it('of a client that lost its sign-in on devices meanwhile allows nothing', async () => {
    const own = await register(here.world, { devices: true })
    const { device_code, user_code } = await flow.begin(own, scope)
    const [page, browser] = await toDecision(user_code)
    await here.world.db.client.update({ where: { id: own }, data: { devices: false } })
    expect((await browser.post(toStepUrl(page, 'consent'), allowing())).status).toBe(400)
    expect(await consents(own)).toBe(0)
    expect((await flow.poll(own, device_code)).json.error).toBe('unauthorized_client')
  })

  it('of a sandbox client offers its test members alone, to its team', async () => {
    const own = await register(here.world, { environment: 'sandbox', testOnly: true, devices: true, redirectUris: [] })
    const { user_code } = await flow.begin(own, scope)
    const [page, browser] = await toDecision(user_code)
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('This app is in development')])
    const refused = await flow.decideOn(page, browser, { decision: 'refuse' })
    expect(refused.text).toContain('The device was refused')
    expect(await consents(own)).toBe(0)
  })
})
