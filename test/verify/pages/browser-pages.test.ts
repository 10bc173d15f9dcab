import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromium, skipReason } from '../../oauth/chromium.ts'
import { expectAccessible } from '../../pages/accessible.ts'
import { inChromium } from '../in-chromium.ts'

describe.skipIf(!chromium)(`in Chromium${skipReason}`, () => {
  const here = inChromium()

  const address = (host: string, path: string) => `http://${host}localhost:${here.service.port}${path}`

  describe.each([
    { locale: 'de-DE', colorScheme: 'light', viewport: { width: 320, height: 640 } },
    { locale: 'en-GB', colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  ] as const)('$locale, $colorScheme, $viewport.width wide', (variant) => {
    // In one tab: a context with its processes costs 1.2 s of CPU.
    let context: BrowserContext
    let page: Page
    beforeAll(async () => {
      context = await here.browser.newContext({ ...variant, bypassCSP: true })
      page = await context.newPage()
    })
    afterAll(() => context?.close())

    it.each([
      ['', '/', 200],
      ['', '/nowhere', 404],
      ['apps.', '/', 404],
      ['auth.', '/v1/oauth/conected', 404],
      ['example.', '/nowhere', 404],
    ] as const)('the page at %s %s breaks no rule of WCAG AA, and fits', async (host, path, expected) => {
      const response = await page.goto(address(host, path))
      expect(response!.status()).toBe(expected)
      expect(await page.evaluate('document.documentElement.lang')).toBe(variant.locale.slice(0, 2))
      await expectAccessible(page)
    })
  })

  it('a page brings its style along, within its policy, and requests nothing', async () => {
    const url = address('', '/')
    const { page, complaints, requests } = await here.visit(url)
    expect(await page.evaluate(`getComputedStyle(document.querySelector('main')).borderTopStyle`)).toBe('solid')
    expect(complaints).toEqual([])
    expect(requests).toEqual([url])
  })

  it('leads by keyboard to the sample app, each reference and OpenAPI document, the connected apps, the documentation and the errors', async () => {
    const { page } = await here.visit(address('', '/'))
    const links: unknown[] = []
    for (let n = 0; n < 14; n++) {
      await page.keyboard.press('Tab')
      links.push(
        await page.evaluate('[document.activeElement.href, getComputedStyle(document.activeElement).outlineStyle]'),
      )
    }
    const ofApis = ['apps.', 'lms.', 'notify.', 'sync.'].flatMap((host) =>
      ['/v1/docs', '/v1/openapi.json'].map((path) => address(host, path)),
    )
    const others = [
      address('auth.', '/v1/oauth/connected'),
      address('', '/docs'),
      address('apps.', '/v1/docs/errors'),
      address('auth.', '/v1/oauth/developers'),
      address('', '/llms.txt'),
    ]
    expect(links).toEqual([address('example.', '/'), ...ofApis, ...others].map((url) => [url, 'solid']))
    for (const [url] of links as [string][]) expect([url, (await page.goto(url))?.status()]).toEqual([url, 200])
  })
})
