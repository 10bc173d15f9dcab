import fc from 'fast-check'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Language } from '../../../server/browser/language.ts'
import { chromium, launchHeadlessShell, skipReason } from '../../oauth/chromium.ts'
import { servePages } from '../../oauth/page-server.ts'
import { hostileText, pagesOf, textCount } from '../../oauth/random-pages.ts'
import { samplePages } from '../../oauth/sample-pages.ts'
import { expectAccessible } from '../../pages/accessible.ts'
import { times } from '../../support/rounds.ts'

type Appearance = [language: Language, colorScheme: 'light' | 'dark', width: 320 | 1280, height: number]
/** Each pair of language, scheme and width; a third of them together is not worth another minute. */
const pairs: Appearance[] = [
  ['en', 'light', 1280, 800],
  ['en', 'dark', 320, 640],
  ['de', 'light', 320, 640],
  ['de', 'dark', 1280, 800],
]
const looks = times(1, 0) ? pairs : pairs.slice(1, 3)
const few = ['/sign-in-problem', '/consent', '/connected-odd', '/remove-odd', '/message']

/** A page as a browser parses it: elements with their attributes' names, and all text. */
const parse = `(pages) => pages.map((page) => {
  const all = [...new DOMParser().parseFromString(page, 'text/html').querySelectorAll('*')]
  return {
    skeleton: all.map((element) => [element.localName, ...element.getAttributeNames()].join(' ')).join('\\n'),
    texts: all.flatMap((element) => [element.textContent, ...[...element.attributes].map(({ value }) => value)]),
  }
})`
interface Parsed {
  skeleton: string
  texts: string[]
}

describe.skipIf(!chromium)(`in a browser${skipReason}`, () => {
  let browser: Browser
  let server: Awaited<ReturnType<typeof servePages>>
  beforeAll(async () => {
    const pages = (['en', 'de'] as const).flatMap((language) =>
      Object.entries(samplePages(language)).map(([path, page]) => [`/${language}${path}`, page] as const),
    )
    const script = '<script>document.title = "owned"</script><img src="x" onerror="document.title = \'owned\'">'
    const [, plain] = pages[0]!
    const injected = [plain.replace('</main>', `${script}<p style="position: fixed">x</p></main>`)]
    server = await servePages({ ...Object.fromEntries(pages), '/injected': injected[0]! })
    browser = await launchHeadlessShell()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  const open = async (path: string, options: BrowserContextOptions = {}) => {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    await page.goto(server.origin + path)
    return { context, page }
  }

  // In one tab: a context with its processes costs 1.2 s of CPU, a page in it 0.8 s with axe.
  describe.each(looks)('a page in %s, %s, %i wide', (language, colorScheme, width, height) => {
    let context: BrowserContext
    let page: Page
    beforeAll(async () => {
      // axe is a script, which the pages' policy blocks.
      context = await browser.newContext({ colorScheme, viewport: { width, height }, bypassCSP: true })
      page = await context.newPage()
    })
    afterAll(() => context?.close())

    it.each(times(1, 0) ? Object.keys(samplePages(language)) : few)(
      '%s breaks no rule of WCAG AA, and fits',
      async (path) => {
        await page.goto(`${server.origin}/${language}${path}`)
        await expectAccessible(page)
      },
    )
  })

  it('keeps users’ text within its own text node or attribute', async () => {
    const { context, page } = await open('/en/code', { bypassCSP: true })
    const inBrowser = async (pages: string[]) =>
      (await page.evaluate(`(${parse})(${JSON.stringify(pages)})`)) as Parsed[]
    const plain = (await inBrowser(pagesOf(Array.from({ length: textCount }, (_, at) => String(at))))).map(
      ({ skeleton }) => skeleton,
    )
    const texts = fc.uniqueArray(hostileText, { minLength: textCount, maxLength: textCount })
    await fc.assert(
      fc.asyncProperty(texts, async (written) => {
        const seen = await inBrowser(pagesOf(written))
        expect(seen.map(({ skeleton }) => skeleton)).toEqual(plain)
        const all = seen.flatMap((one) => one.texts).join('\n')
        for (const text of written) expect(all).toContain(text)
      }),
      { numRuns: times(300, 30) },
    )
    await context.close()
  }, 120_000)

  it('runs no injected script and applies no injected style', async () => {
    const { context, page } = await open('/injected')
    await expect.poll(() => page.title()).toBe('Sign in')
    expect(await page.evaluate(`getComputedStyle(document.querySelector('[style]')).position`)).toBe('static')
    await context.close()
    // With the policy bypassed the same page runs them: the test is able to fail.
    const heedless = await open('/injected', { bypassCSP: true })
    await expect.poll(() => heedless.page.title()).toBe('owned')
    await heedless.context.close()
  })

  it('cannot be framed', async () => {
    const framing = await servePages({})
    const { context, page } = await open('/en/code', { bypassCSP: true })
    await page.goto(framing.origin)
    const refused = page.waitForEvent('requestfailed')
    await page.evaluate(
      `document.body.append(Object.assign(document.createElement('iframe'), { src: '${server.origin}/en/consent' }))`,
    )
    expect((await refused).failure()?.errorText).toBe('net::ERR_BLOCKED_BY_RESPONSE')
    await context.close()
    await framing.close()
  })
})
