import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memberScopes } from '../../../routers/kernel/scopes.ts'
import { chromium, launchHeadlessShell, skipReason } from '../../oauth/chromium.ts'
import { servePages } from '../../oauth/page-server.ts'
import { action, samplePages } from '../../oauth/sample-pages.ts'

/** The focused element, and whether its focus is visible. */
const focused = (page: Page) =>
  page.evaluate(`(({ activeElement: element }) =>
    element.matches(':focus-visible') && [element.name, element.value, getComputedStyle(element).outlineStyle].join(' ')
  )(document)`)

describe.skipIf(!chromium)(`by keyboard alone and without scripts${skipReason}`, () => {
  let browser: Browser
  let server: Awaited<ReturnType<typeof servePages>>
  beforeAll(async () => {
    const pages = samplePages('en')
    server = await servePages({ ...pages, '/v1/oauth/connected/remove': pages['/remove']! })
    browser = await launchHeadlessShell()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  /** Opens a page, acts on it, and returns the one form that was posted. */
  const post = async (path: string, work: (page: Page) => Promise<void>) => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(server.origin + path)
    const before = server.posted.length
    await work(page)
    await expect.poll(() => server.posted.length).toBe(before + 1)
    await context.close()
    return server.posted.at(-1)!
  }
  const press = async (page: Page, ...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }

  it('a member chooses a club, unticks a scope and allows the rest', async () => {
    const { path, fields, headers } = await post('/consent', async (page) => {
      // Past the homepage and the way to another account.
      await press(page, 'Tab', 'Tab', 'Tab')
      expect(await focused(page)).toBe('organisation riverside solid')
      await press(page, 'ArrowDown', 'Tab', 'Tab')
      expect(await focused(page)).toBe('scope svc.me.groups:read solid')
      // Enter in a checkbox must not submit a half-filled form.
      await press(page, 'Space', 'Enter', 'Tab', 'Tab', 'Tab')
      expect(await focused(page)).toBe('scope svc.apps.storage:write solid')
      // Past the connected apps.
      await press(page, 'Tab', 'Tab')
      expect(await focused(page)).toBe('decision allow solid')
      await press(page, 'Enter')
    })
    expect(path).toBe(`${action}/consent`)
    expect([...fields]).toEqual([
      ['organisation', 'northgate'],
      ['scope', 'svc.me.profile:read'],
      ['scope', 'svc.me.events:read'],
      ['scope', 'svc.apps.storage:read'],
      ['scope', 'svc.apps.storage:write'],
      ['decision', 'allow'],
    ])
    // The routes detect other origins by these two headers; a Referrer-Policy could remove them.
    expect(headers.origin).toBe(server.origin)
    expect(headers['sec-fetch-site']).toBe('same-origin')
  })

  it('a member refuses', async () => {
    const { fields } = await post('/consent', async (page) => {
      await press(page, 'Shift+Tab')
      expect(await focused(page)).toBe('decision refuse solid')
      await press(page, 'Space')
    })
    expect(fields.get('decision')).toBe('refuse')
  })

  it('a single club is submitted as the chosen one', async () => {
    const { fields } = await post('/consent-problem', (page) => press(page, 'Shift+Tab', 'Shift+Tab', 'Enter'))
    expect(fields.get('organisation')).toBe('long')
    // Besides, the sign-in is allowed by a fixed box, which is not sent.
    expect(fields.getAll('scope')).toHaveLength(memberScopes.length + 2)
    expect(fields.get('decision')).toBe('allow')
  })

  it('a member signs in with an address and a code, and chooses among several', async () => {
    const email = await post('/sign-in-problem', async (page) => {
      await page.waitForSelector('#email:focus')
      await page.keyboard.type('anna.berger@example.org')
      await press(page, 'Enter')
    })
    expect([email.path, ...email.fields]).toEqual([`${action}/email`, ['email', 'anna.berger@example.org']])

    const code = await post('/code', async (page) => {
      await page.waitForSelector('#code:focus')
      await page.keyboard.type('1234 5678')
      await press(page, 'Tab', 'Enter')
    })
    expect([code.path, ...code.fields]).toEqual([`${action}/code`, ['code', '1234 5678']])

    const person = await post('/person', (page) => press(page, 'Tab', 'Tab', 'Enter'))
    expect([person.path, ...person.fields]).toEqual([`${action}/person`, ['person', 'ben']])

    const member = await post('/sign-in-problem', async (page) => {
      await page.waitForSelector('#email:focus')
      await press(page, 'Tab', 'Tab', 'ArrowDown', 'Tab', 'Enter')
    })
    expect([member.path, ...member.fields]).toEqual([`${action}/pick`, ['member', 'ben']])
  })

  it('a link leads to the upstream provider, another back from the code', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${server.origin}/sign-in`)
    await press(page, 'Tab', 'Enter')
    await page.waitForURL(`${server.origin}${action}/upstream`)
    await page.goto(`${server.origin}/code`)
    await page.waitForSelector('#code:focus')
    await press(page, 'Tab', 'Tab', 'Enter')
    await page.waitForURL(`${server.origin}${action}`)
    await context.close()
  })

  it('a member withdraws an app and signs out', async () => {
    const withdrawn = await post('/connected', async (page) => {
      // Past the first app's homepage, and its button.
      await press(page, 'Tab', 'Tab', 'Tab')
      expect(await focused(page)).toBe('consent c2 solid')
      await press(page, 'Enter')
      await page.waitForURL('**/v1/oauth/connected/remove?consent=c2')
      await press(page, 'Tab')
      expect(await focused(page)).toBe('consent c1 solid')
      await press(page, 'Enter')
    })
    expect([withdrawn.path, ...withdrawn.fields]).toEqual(['/v1/oauth/connected/withdraw', ['consent', 'c1']])
    const left = await post('/connected', (page) => press(page, 'Shift+Tab', 'Enter'))
    expect([left.path, ...left.fields]).toEqual(['/v1/oauth/connected/sign-out'])
  })
})
