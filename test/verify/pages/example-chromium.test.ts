import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { chromium, skipReason } from '../../oauth/chromium.ts'
import { expectAccessible } from '../../pages/accessible.ts'
import { inChromium } from '../in-chromium.ts'
import { allowOrContinue, decide, pick } from '../sign-in-pages.ts'

/** Globals of the page: evaluated functions run there. */
declare const sessionStorage: { setItem: (name: string, text: string) => void }
declare const location: { href: string }

/** The name under which the SDK keeps tokens; also of its lock. */
const STORED = 'member-apps example-app'

/** What a newcomer does with the printed link, on the real service in a real browser. */
describe.skipIf(!chromium)(`the example in Chromium${skipReason}`, () => {
  const here = inChromium()
  /** The page in a browser of its own. */
  const visit = (options?: BrowserContextOptions) => here.visit(here.sampleApp, options)
  /** The same, where the member begins to sign in. */
  async function begin(member: string, options?: BrowserContextOptions) {
    const opened = await visit(options)
    await opened.page.getByRole('button', { name: 'Sign in with your club' }).click()
    await pick(opened.page, member)
    return opened
  }
  /** The same, where the member has signed in. */
  async function signedIn(member: string) {
    const opened = await begin(member)
    await allowOrContinue(opened.page)
    await opened.page.locator('#score-name:enabled').waitFor()
    return opened
  }

  it('signs a member in, shows what they allowed, keeps a score, refreshes its token, and signs out', async () => {
    const { page, complaints } = await begin('anna')
    const asked = page.locator('input[name=scope]:checked')
    expect(await Promise.all((await asked.all()).map((box) => box.inputValue()))).toEqual([
      'svc.me.profile:read',
      'svc.me.groups:read',
      'svc.me.events:read',
      'svc.apps.storage:read',
      'svc.apps.storage:write',
    ])
    await decide(page, 'allow')

    await page.getByRole('heading', { name: 'Anna Berger', level: 1 }).waitFor()
    expect(page.url()).toBe(here.sampleApp)
    expect(await page.locator('#email').innerText()).toBe('anna.berger@example.org')
    const events = page.getByRole('region', { name: 'Next in your club' })
    // Each part of the page appears with its own response.
    await expect
      .poll(() => events.getByRole('heading', { level: 3 }).allInnerTexts())
      .toEqual(['Training U16', 'Sommerfest', 'Saisoneröffnung'])
    // As people write it: Sat 12 Dec, 18:00–19:30
    for (const text of await page.locator('time').allInnerTexts()) {
      expect(text).toMatch(/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun),? \d\d? [A-Z][a-z]+( \d{4})?, \d\d:\d\d\s?–\s?\d\d:\d\d$/)
    }
    await expect
      .poll(() => page.locator('#groups li').allInnerTexts())
      .toEqual(['Jugend U16\ntrainer', 'Seniors\nmember'])
    expect(await page.getByRole('link', { name: 'Connected apps' }).getAttribute('href')).toBe(
      `http://auth.localhost:${here.service.port}/v1/oauth/connected`,
    )
    await page.getByText('Nobody has points yet.').waitFor()
    await addName(page, '🍰 <b>Bakers</b>')
    await page.getByRole('button', { name: '+1 🍰 <b>Bakers</b>' }).click()
    await expect.poll(() => board(page)).toEqual(['🍰 <b>Bakers</b> 1'])
    expect(await page.evaluate('document.activeElement.textContent')).toBe('+1')

    await page.reload()
    await page.getByText('Anna Berger').waitFor()
    await expect.poll(() => board(page)).toEqual(['🍰 <b>Bakers</b> 1'])

    // Its first requests get a 401 and share one refresh: using the token twice would end the grant.
    const refreshes: string[] = []
    page.on('request', (request) => {
      if (request.postData()?.includes('grant_type=refresh_token')) refreshes.push(request.url())
    })
    const before = await readTokens(page)
    await spoil(page, 'access_token')
    await page.reload()
    await page.getByText('Anna Berger').waitFor()
    expect(refreshes).toEqual([`http://auth.localhost:${here.service.port}/v1/oauth/token`])
    const after = await readTokens(page)
    expect(after.access_token).not.toBe(before.access_token)
    expect(after.refresh_token).not.toBe(before.refresh_token)

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.locator('button[name=decision][value=end]').click()
    await message(page, 'You are signed out.')
    expect(page.url()).toBe(here.sampleApp)
    expect(await page.getByLabel('Team or player').isVisible()).toBe(false)
    expect(await readTokens(page)).toBeNull()
    // Only Chromium's own lines about 401 and 404: the content security policy blocks nothing.
    expect(complaints.filter((text) => !/status of 40[14]/.test(text))).toEqual([])
    // The session has ended, and the consent has not.
    expect(await renew(page, after.refresh_token)).toBe(200)
    await page.getByRole('button', { name: 'Sign in with your club' }).click()
    await pick(page, 'anna')
    await decide(page, 'allow')
    await page.getByRole('heading', { name: 'Anna Berger', level: 1 }).waitFor()
  })

  it('says that the member has refused, and stores nothing', async () => {
    const { page } = await begin('ben')
    await decide(page, 'refuse')
    await message(page, 'You did not allow Clubnote. Nothing was read or stored.')
    expect(page.url()).toBe(here.sampleApp)
    expect(await page.getByRole('button', { name: 'Sign in with your club' }).isVisible()).toBe(true)
    expect(await readTokens(page)).toBeNull()
  })

  it('works without the scopes that the member has unticked', async () => {
    const { page } = await begin('ben')
    await page.locator('input[name=scope][value="svc.me.events:read"]').uncheck()
    await page.locator('input[name=scope][value="svc.apps.storage:write"]').uncheck()
    await decide(page, 'allow')
    await page.getByText('Ben Okafor').waitFor()
    await expect
      .poll(() => page.locator('#events').innerText())
      .toBe('You did not allow Clubnote to see your calendar.')
    await addName(page, 'Mine', 'You did not allow Clubnote to change the scores.')
  })

  it('shows a point in two browsers at once, and loses none of two members', async () => {
    const [anna, emil] = await Promise.all(['anna', 'emil'].map((name) => signedIn(name)))
    await addName(anna!.page, 'Rowers')
    const add = ({ page }: { page: Page }) => page.getByRole('button', { name: '+1 Rowers' })
    await add(emil!).waitFor()
    const points = ({ page }: { page: Page }) =>
      page.locator('#scores li', { hasText: 'Rowers' }).locator('output').innerText()
    for (let round = 1; round <= 3; round++) {
      await Promise.all([anna!, emil!].map((one) => add(one).click()))
      for (const one of [anna!, emil!]) await expect.poll(() => points(one)).toBe(String(2 * round))
    }
  })

  it('in two tabs that renew at once stays signed in, also after a tab that keeps the lock', async () => {
    const { context, page } = await signedIn('dora')
    await page.getByText('Dora Nowak').waitFor()
    const other = await context.newPage()
    const renewed: string[] = []
    context.on('request', (sent) => sent.postData()?.includes('grant_type=refresh_token') && renewed.push(sent.url()))
    for (let round = 1; round <= 3; round++) {
      await spoil(page, 'access_token')
      await Promise.all([page, other].map((tab) => tab.goto(here.sampleApp)))
      for (const tab of [page, other]) await tab.getByText('Dora Nowak').waitFor()
      expect(renewed).toHaveLength(round)
    }

    // Frozen while it has the lock.
    await other.evaluate(`void navigator.locks.request('${STORED}', () => new Promise(() => {}))`)
    await page.clock.install()
    await spoil(page, 'access_token')
    await page.goto(here.sampleApp)
    const waiting = () => other.evaluate(`navigator.locks.query().then(({ pending }) => pending.length)`)
    await expect.poll(waiting).toBe(1)
    await page.clock.runFor(14_000)
    expect([await waiting(), renewed.length]).toEqual([1, 3])
    await page.clock.runFor(2_000)
    await page.getByText('Dora Nowak').waitFor()
  })

  it('refuses a response that it did not request, and leaves one of another server alone', async () => {
    const { page } = await here.visit()
    await page.goto(
      `${here.sampleApp}?code=stolen&state=guessed&iss=http%3A%2F%2Fauth.localhost%3A${here.service.port}%2Fv1%2Foauth`,
    )
    await message(page, 'This sign-in was not begun here. Please sign in again.')
    expect(page.url()).toBe(here.sampleApp)

    const issuer = `http://auth.localhost:${here.service.port}/v1/oauth`
    const begin = (issuer: string) => {
      const begun = { issuer, clientId: 'example-app', state: 'mine', verifier: 'v'.repeat(43), from: location.href }
      sessionStorage.setItem('member-apps sign-ins', JSON.stringify([begun]))
    }
    for (const answer of ['iss=https%3A%2F%2Fevil.example', '']) {
      await page.evaluate(begin, issuer)
      const sent: string[] = []
      page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
      const address = `${here.sampleApp}?code=x&state=mine&${answer}`
      await page.goto(address)
      await page.getByRole('button', { name: 'Sign in with your club' }).waitFor()
      expect([page.url(), sent]).toEqual([address, []])
    }
  })

  it('asks to sign in again when its tokens are no longer valid', async () => {
    const { page } = await visit()
    await keep(page, { access_token: 'gone', refresh_token: 'gone' })
    await page.reload()
    await message(page, 'Your sign-in has ended. Please sign in again.')
    expect(await readTokens(page)).toBeNull()
    expect(await page.getByLabel('Team or player').isVisible()).toBe(false)
  })

  it('says that the club cannot be reached, and signs in once it can', async () => {
    const { page } = await here.visit()
    const metadata = '**/.well-known/oauth-authorization-server/**'
    await page.route(metadata, (route) => route.abort())
    await page.goto(here.sampleApp)
    const unreachable = 'Your club cannot be reached right now. Please try again later.'
    const signIn = page.getByRole('button', { name: 'Sign in with your club' })
    await signIn.click()
    await message(page, unreachable)
    await page.unroute(metadata)
    await signIn.click()
    await pick(page, 'dora')
    await page.route('**/v1/me/**', (route) => route.abort())
    await allowOrContinue(page)
    await message(page, unreachable)
    expect(await page.locator('#events').innerText()).toBe('')
    await page.unroute('**/v1/me/**')
    await page.reload()
    await page.getByRole('heading', { name: 'Dora Nowak' }).waitFor()
  })

  it('keeps the scores while the club is out of reach, and is current again once it is back', async () => {
    const { context, page } = await signedIn('dora')
    await addName(page, 'Swimmers')
    await page.locator('#scores li', { hasText: 'Swimmers' }).waitFor()
    await context.setOffline(true)
    await page.getByText('Not connected: these scores may be old.').waitFor()
    expect(await page.locator('#scores').innerText()).toContain('Swimmers')
    expect(await page.getByRole('button', { name: 'Add' }).isEnabled()).toBe(false)
    await context.setOffline(false)
    await page.locator('#score-name:enabled').waitFor()
  })

  it('says what it is waiting for, and that nothing is planned', async () => {
    const { page } = await begin('dora')
    let answer = () => {}
    const held = new Promise<void>((resolve) => (answer = resolve))
    await page.route('**/v1/me/events', async (route) => {
      await held
      await route.fulfill({ json: { items: [] }, headers: { 'access-control-allow-origin': '*' } })
    })
    await allowOrContinue(page)
    await expect.poll(() => page.locator('#events').innerText()).toBe('Loading…')
    answer()
    await expect.poll(() => page.locator('#events').innerText()).toBe('Nothing is planned.')
  })

  it('shows titles as text, and the year of an event in another year', async () => {
    const { page } = await begin('dora', { timezoneId: 'Europe/Berlin' })
    const at = (date: string) => Date.parse(date) / 1000
    const camp = { start: at('2031-12-30T18:00+01:00'), end: at('2032-01-02T14:00+01:00') }
    const items = [{ id: 'camp', title: '<img src=x onerror=alert(1)>', location: '<b>Hut</b>', ...camp }]
    await page.route('**/v1/me/events', (route) =>
      route.fulfill({ json: { items }, headers: { 'access-control-allow-origin': '*' } }),
    )
    await allowOrContinue(page)
    await page.locator('time').waitFor()
    expect(await page.locator('#events h3').innerText()).toBe('<img src=x onerror=alert(1)>')
    expect(await page.locator('#events .hint').innerText()).toBe('<b>Hut</b>')
    expect(await page.locator('time').innerText()).toMatch(/30 Dec 2031, 18:00 – .*2 Jan 2032, 14:00$/)
  })

  it.each([
    { locale: 'de-DE', colorScheme: 'light', viewport: { width: 320, height: 640 } },
    { locale: 'en-US', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  ] as const)('breaks no rule of WCAG AA and fits: $locale, $colorScheme, $viewport.width wide', async (variant) => {
    const { page } = await visit({ ...variant, timezoneId: 'Europe/Berlin', bypassCSP: true })
    const signIn = page.getByRole('button', { name: /^(Mit dem Verein anmelden|Sign in with your club)$/ })
    await signIn.waitFor()
    await expectAccessible(page)
    await signIn.click()
    await pick(page, 'anna')
    await allowOrContinue(page)
    await page.locator('time').first().waitFor()
    expect(await page.evaluate('document.documentElement.lang')).toBe(variant.locale.slice(0, 2))
    const time = await page.locator('time').first().innerText()
    if (variant.locale === 'de-DE')
      expect(time).toMatch(/^(Mo|Di|Mi|Do|Fr|Sa|So)\., \d\d?\. \S+( \d{4})?, \d\d:\d\d–\d\d:\d\d Uhr$/)
    else
      expect(time).toMatch(
        /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), [A-Z][a-z]+ \d\d?(, \d{4})?, \d\d?:\d\d(\s(AM|PM))?\s–\s\d\d?:\d\d\s(AM|PM)$/,
      )
    await page.locator('#score-name:enabled').fill('x')
    await page.locator('#score-form button').click()
    await page.locator('#message.done').waitFor()
    // The answer to the button is within sight of it.
    expect(await page.evaluate(`document.getElementById('message').getBoundingClientRect().top >= 0`)).toBe(true)
    await page.evaluate('scrollTo(0, 0)')
    await expectAccessible(page)
  })

  it('is used by keyboard alone, in the order of the page', async () => {
    const { page } = await visit()
    await page.getByRole('button', { name: 'Sign in with your club' }).waitFor()
    const focused = () => page.evaluate(`document.activeElement.id || document.activeElement.textContent.trim()`)
    const order = async (count: number) => {
      const found: unknown[] = []
      for (let n = 0; n < count; n++) {
        await page.keyboard.press('Tab')
        found.push(await focused())
      }
      return found
    }
    expect(await order(3)).toEqual(['sign-in', 'connected', 'Source: examples/third-party/app.js'])
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Shift+Tab')
    await page.keyboard.press('Enter')
    await pick(page, 'ben')
    await allowOrContinue(page)
    await page.locator('#score-name:enabled').waitFor()
    await page.locator('#scores li').first().waitFor()
    const rows = await page.locator('#scores button').allInnerTexts()
    expect(await order(rows.length + 4)).toEqual(['sign-out', ...rows, 'score-name', 'Add', 'connected'])
  })
})

/** On the example's page: */
async function addName(page: Page, name: string, says = `Added: ${name}`) {
  await page.locator('#score-name:enabled').fill(name)
  await page.getByRole('button', { name: 'Add' }).click()
  await message(page, says)
}
const board = async (page: Page) => {
  const rows = await page.locator('#scores li').all()
  return Promise.all(
    rows.map(async (row) => `${await row.locator('bdi').innerText()} ${await row.locator('output').innerText()}`),
  )
}
const message = (page: Page, text: string) => page.getByRole('status').getByText(text, { exact: true }).waitFor()

interface Tokens {
  access_token: string
  refresh_token: string
}
const readTokens = async (page: Page): Promise<Tokens> => JSON.parse(await inStore(page, 'readonly', null))

const keep = (page: Page, tokens: object) => inStore(page, 'readwrite', JSON.stringify(tokens))

const spoil = async (page: Page, name: keyof Tokens) => keep(page, { ...(await readTokens(page)), [name]: 'spoilt' })

/** Reads or replaces what the SDK keeps in the browser. */
const inStore = (page: Page, mode: string, text: string | null) =>
  page.evaluate<string>(`new Promise((resolve, reject) => {
    const opening = indexedDB.open('member-apps')
    opening.onupgradeneeded = () => opening.result.createObjectStore('tokens')
    opening.onerror = () => reject(opening.error)
    opening.onsuccess = () => {
      const transaction = opening.result.transaction('tokens', '${mode}')
      const records = transaction.objectStore('tokens')
      const text = ${JSON.stringify(text)}
      const asked = text === null ? records.get('${STORED}') : records.put(text, '${STORED}')
      transaction.oncomplete = () => {
        opening.result.close()
        resolve(asked.result ?? 'null')
      }
    }
  })`)

/** Refreshes from within the page, as the app does. */
const renew = (page: Page, token: string) =>
  page.evaluate(async (refresh_token) => {
    const { issuer, client_id } = (await (await fetch('/config.json')).json()) as Record<'issuer' | 'client_id', string>
    const body = new URLSearchParams({ grant_type: 'refresh_token', client_id, refresh_token })
    return (await fetch(`${issuer}/token`, { method: 'POST', body })).status
  }, token)
