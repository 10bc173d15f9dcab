import type { Browser, BrowserContextOptions, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { flow } from '../../oauth/auth-world.ts'
import { chromium, launchHeadlessShell, skipReason } from '../../oauth/chromium.ts'
import { expectAccessible } from '../../pages/accessible.ts'
import type { PortalWorld } from '../../portal/portal-world.ts'
import { listOtherPages, listPages, portal, startPortal, storeEntry } from '../../portal/portal-world.ts'

let team: PortalWorld
let browser: Browser
let addresses: string[]
let client: string
beforeAll(async () => {
  if (!chromium) return
  team = await startPortal({ clubApproval: true })
  const { world, sandbox, failed, as, owner } = team
  const { id } = await sandbox({ name: 'Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen' })
  client = id
  const { id: secret } = await as(owner).clients.secrets.create({ client: id })
  const delivery = await failed()
  const attempt = { deliveryId: delivery, at: new Date(), durationMs: 31, status: 500, error: 'status 500' }
  await world.db.deliveryAttempt.createMany({
    data: [
      { ...attempt, number: 1, status: null, error: 'connect timeout' },
      { ...attempt, number: 2, answer: 'x'.repeat(1_024) },
    ],
  })
  await as(owner).people.invite({
    team: world.ids.team,
    email: 'someone.with.a.long.address@example.org',
    role: 'owner',
  })
  await as(owner).rules.set({ app: world.ids.app, collection: 'c', rule: 'author' })
  const hook = { app: world.ids.app, url: 'https://hooks.example/in', types: ['member.left'] }
  const made = await as(owner).addresses.create({ ...hook, environment: 'sandbox' })
  await world.call('GET', '/storage/c/none')
  await world.call('PUT', '/storage/c/one', { body: { value: 1 } })
  const redirectUri = `https://app.example/${'callback'.repeat(40)}`
  await team.newBrowser().get(flow(world).authorizeUrl({ client: id, redirectUri, scope: 'svc.me.events:read' }).url)
  await world.requestLog.flush()
  const { email } = await world.db.person.findUniqueOrThrow({ where: { id: owner } })
  const invitation = await as(team.stranger).people.invite({ team: team.strangers, email, role: 'developer' })
  const ids = { address: made.id, club: await storeEntry(team), person: team.colleague, invitation: invitation.id }
  const all = `/teams/${world.ids.team}/requests?status=all`
  addresses = [
    ...listPages(world.ids.team, world.ids.app, id, delivery, secret),
    ...listOtherPages(world.ids.team, world.ids.app, ids),
    all,
  ]
  browser = await launchHeadlessShell([`--host-resolver-rules=MAP auth.test 127.0.0.1:${world.publicPort}`])
})
afterAll(async () => {
  await browser?.close()
  await team?.world.close()
})

const focusedText = (page: Page) =>
  page.evaluate(`(({ activeElement: element }) =>
    element.matches(':focus-visible') ? element.labels?.[0]?.textContent ?? element.textContent : ''
  )(document)`) as Promise<string>

/** Presses Tab until something with this name has a visible focus. */
async function tabTo(page: Page, name: string) {
  for (let presses = 0; presses < 60; presses++) {
    await page.keyboard.press('Tab')
    if ((await focusedText(page)).trim().startsWith(name)) return
  }
  throw new Error(`Nothing called ${name} was reached`)
}
/** Presses Enter on it, and waits for the page that it leads to. */
const enter = async (page: Page, name: string, to: RegExp) => {
  await tabTo(page, name)
  await Promise.all([page.waitForURL(to), page.keyboard.press('Enter')])
}
const type = async (page: Page, name: string, text: string) => {
  await tabTo(page, name)
  await page.keyboard.insertText(text)
}

/** With the session of someone who has signed in over HTTP. */
async function signedIn(address = '', options: BrowserContextOptions = {}, permissions: string[] = []) {
  const context = await browser.newContext(options)
  onTestFinished(() => context.close())
  const { cookies } = team.asOwner
  await context.addCookies(cookies.map(({ name, value, host: domain, path }) => ({ name, value, domain, path })))
  await context.grantPermissions(permissions, { origin: new URL(portal).origin }).catch(() => {})
  const page = await context.newPage()
  // The clipboard is for secure contexts alone, as https and localhost are.
  await page.addInitScript(`navigator.clipboard ??= { writeText: async (text) => { window.copied = text } }`)
  await page.goto(portal + address)
  return page
}
const appPage = () => `/teams/${team.world.ids.team}/apps/${team.world.ids.app}`

describe.skipIf(!chromium)(`the portal in Chromium${skipReason}`, () => {
  it('is worked in by keyboard alone and without scripts', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(portal)
    await page.locator('select[name=member]').focus()
    await page.locator('select[name=member]').selectOption(team.owner)
    await enter(page, 'Sign in', /\/developers$/)
    await enter(page, 'Team', /\/teams\/[^/]+$/)
    await tabTo(page, 'Apps')
    await enter(page, 'App', /\/apps\/[^/]+$/)
    await enter(page, 'Clients', /\/clients$/)
    await tabTo(page, 'New sandbox client')
    await page.keyboard.press('Enter')
    await type(page, 'Name', 'By keyboard')
    await type(page, 'Redirect URIs', 'https://app.example/callback')
    await tabTo(page, 'Read your name')
    await page.keyboard.press('Space')
    await enter(page, 'Create client', /\/clients\/.*done=created/)
    expect(await page.locator('h1').textContent()).toBe('By keyboard')
    await enter(page, 'Remove', /\/remove$/)
    const id = await page.locator('form code').textContent()
    await type(page, 'Client id', id!)
    await enter(page, 'Remove client', /done=removed/)
    expect(await team.world.db.client.count({ where: { id: id! } })).toBe(0)
    await context.close()
  })

  it('breaks no rule of WCAG AA and fits its window, light and English on a desktop, dark and German on a phone', async () => {
    // Without motion: buttons fade from one colour scheme to the other.
    const still = { bypassCSP: true, reducedMotion: 'reduce' } as const
    for (const appearance of [
      { locale: 'en-GB', colorScheme: 'light', viewport: { width: 1280, height: 800 } },
      { locale: 'de-DE', colorScheme: 'dark', hasTouch: true, viewport: { width: 320, height: 640 } },
    ] as const) {
      const page = await signedIn('', { ...still, ...appearance })
      for (const address of addresses) {
        const response = await page.goto(portal + address)
        expect([address, response!.status()]).toEqual([address, 200])
        await page.evaluate(`document.querySelectorAll('details:not(.menu)').forEach((one) => { one.open = true })`)
        await expectAccessible(page)
      }
    }
  })

  it('has the value of a cell beside its label in a card on a phone', async () => {
    const page = await signedIn(`${appPage()}/requests`, { viewport: { width: 320, height: 640 } })
    const isOneLine = `(({ offsetHeight, offsetTop, parentElement: cell }) =>
      offsetHeight > 0 && cell.clientHeight < 2 * offsetHeight)(document.querySelector('td[data-label=Status] > strong'))`
    expect(await page.evaluate(isOneLine)).toBe(true)
  })

  it('has menus that open one at a time and close by Escape, also on a phone', async () => {
    const page = await signedIn(appPage(), { locale: 'de-DE', viewport: { width: 320, height: 640 } })
    const isOpen = (name: string) => page.locator(`details.${name}[open]`).isVisible()
    const fits = () => page.evaluate('document.documentElement.scrollWidth <= innerWidth')
    for (const [name, other] of [
      ['switcher', 'account'],
      ['account', 'switcher'],
    ] as const) {
      await page.locator(`.${name} > summary`).click()
      expect([await isOpen(name), await isOpen(other), await fits()]).toEqual([true, false, true])
    }
    await page.keyboard.press('Escape')
    expect(await isOpen('account')).toBe(false)
    await page.locator('.switcher > summary').click()
    await page.locator('h1').click()
    expect(await isOpen('switcher')).toBe(false)
  })

  it('shows a refused form with the focus on its first problem', async () => {
    const phone = { width: 320, height: 640 }
    const page = await signedIn(`${appPage()}/clients`, { bypassCSP: true, locale: 'de-DE', viewport: phone })
    await page.locator('details.card > summary').first().click()
    await page.locator('#create-name').fill('Neu')
    await page.locator('#create-redirectUris').fill('http://app.example/')
    await page.locator('form[action$="/create"] button').click()
    await page.getByRole('alert').waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('create-redirectUris')
    expect(await page.locator('#create-name').inputValue()).toBe('Neu')
    await expectAccessible(page)
  })

  it('asks before a changed form is left, and not after it was saved', async () => {
    const page = await signedIn(`/teams/${team.world.ids.team}/clients/${client}/sign-in`)
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.type())
      return dialog.dismiss()
    })
    await page.locator('#settings-name').fill('Changed')
    await page.getByRole('link', { name: 'Scopes' }).click({ noWaitAfter: true })
    await expect.poll(() => asked).toEqual(['beforeunload'])
    expect(await page.locator('#settings-name').inputValue()).toBe('Changed')
    await Promise.all([page.waitForURL(/done=saved/), page.getByRole('button', { name: 'Save' }).click()])
    await Promise.all([page.waitForURL(/\/scopes$/), page.getByRole('link', { name: 'Scopes' }).click()])
    expect(asked).toHaveLength(1)
  })

  it('sends a form once, however often it is clicked, and again after it was stopped', async () => {
    const page = await signedIn()
    await page.clock.install()
    await page.addInitScript(`addEventListener('submit', (event) => console.log('sent', !event.defaultPrevented))`)
    const submits: string[] = []
    page.on('console', (line) => line.text().startsWith('sent ') && submits.push(line.text()))
    const held: Route[] = []
    await page.route(/create-secret$/, (route) => void held.push(route))
    await page.goto(`${portal}/teams/${team.world.ids.team}/clients/${client}/credentials`)
    const secrets = () => team.world.db.clientSecret.count({ where: { clientId: client } })
    const before = await secrets()
    const button = page.locator('form[action$="/create-secret"] button')
    await button.scrollIntoViewIfNeeded()
    const box = (await button.boundingBox())!
    /** Twice. A locator's click would wait for the page that the first one leads to. */
    const click = async (times: number) => {
      for (const _ of [1, 2]) await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2)
      await expect.poll(() => submits.length).toBe(2 * times)
      expect(submits.slice(-2)).toEqual(['sent true', 'sent false'])
      await expect.poll(() => held.length).toBe(times)
    }
    await click(1)
    await held[0]!.abort('aborted')
    await page.clock.fastForward(30_000)
    await click(2)
    await held[1]!.continue()
    await page.waitForURL(/create-secret$/)
    expect(await secrets()).toBe(before + 1)
  })

  it('copies an id by its button', async () => {
    const page = await signedIn(appPage(), {}, ['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: /^Copy\b.*App id/ }).click()
    await page.getByRole('button', { name: /^Copied\b.*App id/ }).waitFor()
    expect(await page.evaluate('window.copied')).toBe(team.world.ids.app)
  })

  it('shows the result of a delivery under way', async () => {
    const { world, as, owner } = team
    const { delivery } = await as(owner).webhook.test({ app: world.ids.app })
    const page = await signedIn(`${appPage()}/deliveries/${delivery}`)
    const state = page.locator('main .badge').first()
    expect(await state.textContent()).toBe('pending')
    await world.db.delivery.update({
      where: { id: delivery },
      data: { state: 'delivered', attempts: 1, nextAttemptAt: null, finishedAt: new Date() },
    })
    await page.locator('main .badge.good').waitFor()
    expect(await page.locator('[data-pending]').count()).toBe(0)
    await Promise.all([page.waitForURL(/done=resent/), page.getByRole('button', { name: 'Resend' }).click()])
    expect(await state.textContent()).toBe('pending')
  })

  it('goes on after a failure that passes, and ends after the sign-out', async () => {
    const { world, as, owner } = team
    const { delivery } = await as(owner).webhook.test({ app: world.ids.app })
    const address = `${appPage()}/deliveries/${delivery}`
    const page = await signedIn()
    await page.clock.install()
    await page.goto(portal + address)
    const answers: ((route: Route) => Promise<unknown>)[] = [
      (route) => route.abort('connectionreset'),
      (route) => route.fulfill({ status: 503 }),
      (route) => route.fulfill({ status: 429 }),
      (route) => route.continue(),
      (route) => route.fulfill({ status: 303, headers: { location: `${portal}/sign-in` } }),
    ]
    let asked = 0
    await page.route(`**${address}?`, (route) => answers[asked++]!(route))
    for (let n = 1; n <= answers.length; n++) {
      // The request before it has been answered, and the next one is due.
      await expect.poll(async () => page.clock.fastForward(10_000).then(() => asked)).toBeGreaterThanOrEqual(n)
    }
    await page.clock.fastForward(60_000)
    expect([asked, await page.locator('main .badge').first().textContent()]).toEqual([answers.length, 'pending'])
  })

  it('shows requests as they come', async () => {
    const { world } = team
    const route = 'route=GET+%2Fstorage%2F%7Bcollection%7D%2F%7Bkey%7D'
    const page = await signedIn(`/teams/${world.ids.team}/requests?${route}`)
    const complaints: string[] = []
    page.on('console', (line) => /Content Security Policy/.test(line.text()) && complaints.push(line.text()))
    await page.reload()
    const rows = page.locator('main table tbody > tr')
    const before = await rows.count()
    for (const name of ['first', 'second']) {
      await world.call('GET', '/storage/live/none', { headers: { 'x-request-id': `live-${name}` } })
      await world.call('GET', '/storage/live?limit=x')
      await world.requestLog.flush()
      await rows.filter({ hasText: `live-${name}` }).waitFor()
    }
    expect(await rows.count()).toBe(before + 2)
    expect(complaints).toEqual([])
  })
})
