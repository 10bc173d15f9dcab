import fc from 'fast-check'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memberScopes } from '../../../routers/kernel/scopes.ts'
import type { Language } from '../../../server/browser/language.ts'
import { languages } from '../../../server/browser/language.ts'
import { chromium, launchHeadlessShell, skipReason } from '../../oauth/chromium.ts'
import { servePages } from '../../oauth/page-server.ts'
import { hostileText, listPages, textCount } from '../../oauth/random-pages.ts'
import { action, samplePages } from '../../oauth/sample-pages.ts'
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
const variants = times(1, 0) ? pairs : pairs.slice(1, 3)
const VOUCHED = '/consent-vouched'
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

/** The focused element, and whether its focus is visible. */
const focused = (page: Page) =>
  page.evaluate(`(({ activeElement: element }) =>
    element.matches(':focus-visible') && [element.name, element.value, getComputedStyle(element).outlineStyle].join(' ')
  )(document)`)

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
    const plainPaths = samplePages('en')
    const vouched = languages.map((language) => [`/${language}${VOUCHED}`, samplePages(language)[VOUCHED]!] as const)
    server = await servePages({
      ...Object.fromEntries([...pages, ...vouched]),
      ...plainPaths,
      '/v1/oauth/connected/remove': plainPaths['/remove']!,
      '/injected': injected[0]!,
    })
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
  describe.each(variants)('a page in %s, %s, %i wide', (language, colorScheme, width, height) => {
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

  it('says in each language who vouches for a client of a document, and fits on a phone', async () => {
    const { context, page } = await open('/en/code', { bypassCSP: true, viewport: { width: 375, height: 667 } })
    for (const language of languages) {
      await page.goto(`${server.origin}/${language}${VOUCHED}`)
      await expectAccessible(page)
      expect(await page.textContent('.lead')).toContain('.example.org')
    }
    await context.close()
  })

  it('keeps users’ text within its own text node or attribute', async () => {
    const { context, page } = await open('/en/code', { bypassCSP: true })
    const inBrowser = async (pages: string[]) =>
      (await page.evaluate(`(${parse})(${JSON.stringify(pages)})`)) as Parsed[]
    const plain = (await inBrowser(listPages(Array.from({ length: textCount }, (_, at) => String(at))))).map(
      ({ skeleton }) => skeleton,
    )
    const texts = fc.uniqueArray(hostileText, { minLength: textCount, maxLength: textCount })
    await fc.assert(
      fc.asyncProperty(texts, async (written) => {
        const seen = await inBrowser(listPages(written))
        expect(seen.map(({ skeleton }) => skeleton)).toEqual(plain)
        const all = seen.flatMap((one) => one.texts).join('\n')
        for (const text of written) expect(all).toContain(text)
      }),
      { numRuns: times(300, 30) },
    )
    await context.close()
  })

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

  describe('by keyboard alone and without scripts', () => {
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

    /** From the end of the page to what stands before the choice of a language. */
    const pastLanguages = Array.from({ length: languages.length + 1 }, () => 'Shift+Tab')

    it('a member refuses', async () => {
      const { fields } = await post('/consent', async (page) => {
        await press(page, ...pastLanguages)
        expect(await focused(page)).toBe('decision refuse solid')
        await press(page, 'Space')
      })
      expect(fields.get('decision')).toBe('refuse')
    })

    it('a single club is submitted as the chosen one', async () => {
      const { fields } = await post('/consent-problem', (page) => press(page, ...pastLanguages, 'Shift+Tab', 'Enter'))
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
      const left = await post('/connected', (page) => press(page, ...pastLanguages, 'Enter'))
      expect([left.path, ...left.fields]).toEqual(['/v1/oauth/connected/sign-out'])
    })
  })
})
