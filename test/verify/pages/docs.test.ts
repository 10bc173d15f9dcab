import type { BrowserContextOptions, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { chromium, skipReason } from '../../oauth/chromium.ts'
import { expectAccessible } from '../../pages/accessible.ts'
import { renderedDocs } from '../../support/rendered-docs.ts'
import { inChromium } from '../in-chromium.ts'

const { pages } = renderedDocs.read()
const all = pages.map(({ slug }) => slug)
/** With every kind of content. */
const varied = ['', 'apps', 'portal', 'troubleshooting', 'performance']
const toPageAddress = (slug: string) => (slug === '' ? '/docs' : `/docs/${slug}`)
const phone = { width: 320, height: 640 }
/** As high as the sidebar is long. */
const desktop = { width: 1440, height: 2_300 }

describe.skipIf(!chromium)(`the documentation in Chromium${skipReason}`, () => {
  const here = inChromium()

  const toUrl = (path: string) => `http://localhost:${here.service.port}${path}`
  const open = (path: string, options: BrowserContextOptions = {}) =>
    here.visit(toUrl(path), { viewport: desktop, ...options })
  const shown = (page: Page, selector: string) => page.locator(selector).filter({ visible: true }).count()

  it.each([
    ['light', desktop, all],
    ['dark', desktop, varied],
    ['light', phone, varied],
    ['dark', phone, all],
  ] as const)('breaks no rule of WCAG AA, and fits: %s, %j', async (colorScheme, viewport, slugs) => {
    const { page, complaints } = await open('/docs', { colorScheme, viewport, bypassCSP: true })
    for (const slug of slugs) {
      await page.goto(toUrl(toPageAddress(slug)))
      await page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)
      // axe cannot judge the columns that are scrolled out of sight.
      await expectAccessible(page, viewport === phone ? ['.scrolls'] : [])
    }
    expect(complaints).toEqual([])
  })

  it('opens on a phone with its lists closed, on a wide screen with them shown', async () => {
    const small = await open('/docs/apps', { viewport: phone })
    expect(await shown(small.page, '.pages a, .contents a')).toBe(0)
    await small.page.getByText('All pages').click()
    await small.page.getByRole('link', { name: 'Webhooks', exact: true }).first().click()
    await small.page.waitForURL('**/docs/webhooks')
    const wide = await open('/docs/apps')
    expect(await shown(wide.page, '.pages a')).toBeGreaterThan(pages.length)
    expect(await shown(wide.page, '.contents a')).toBe(pages.find(({ slug }) => slug === 'apps')!.contents.length)
    expect(await shown(wide.page, '.pages summary')).toBe(0)
  })

  /** The characters of each line of the text's paragraphs and lists, without code, which scrolls. */
  const lineLengths = `[...document.querySelectorAll('.text > p, .text > :is(ul, ol) > li')].flatMap((element) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
    const range = document.createRange()
    const lines = []
    for (let top, text = texts.nextNode(); text; text = texts.nextNode()) {
      if (text.parentElement.closest('pre')) continue
      for (let at = 0; at < text.length; at++) {
        range.setStart(text, at)
        range.setEnd(text, at + 1)
        const box = range.getBoundingClientRect()
        if (box.width === 0) continue
        if (top === undefined || Math.abs(box.top - top) > 9) lines.push(0)
        if (lines.at(-1) === 0) top = box.top
        lines[lines.length - 1]++
      }
    }
    return lines
  })`

  it('has lines of at most 70 characters', async () => {
    const { page } = await open('/docs')
    for (const slug of all) {
      await page.goto(toUrl(toPageAddress(slug)))
      await page.evaluate('document.fonts.ready.then(() => true)')
      const lines = (await page.evaluate(lineLengths)) as number[]
      expect([slug, lines.filter((length) => length > 70)]).toEqual([slug, []])
    }
  })

  it('marks on this page the heading that is read, and nothing without the script', async () => {
    const { page, complaints } = await open('/docs/apps', { viewport: { width: 1440, height: 900 } })
    const marked = () => page.locator('.contents [aria-current]').allTextContents()
    const headings = pages.find(({ slug }) => slug === 'apps')!.contents
    await expect.poll(marked).toEqual([headings[0]!.text])
    const { id, text } = headings[headings.length >> 1]!
    await page.evaluate(`document.getElementById('${id}').scrollIntoView()`)
    await expect.poll(marked).toEqual([text])
    expect(
      await page.locator('.contents [aria-current]').evaluate((item) => {
        const box = item.getBoundingClientRect()
        return box.top >= 0 && box.bottom <= 900
      }),
    ).toBe(true)
    await page.evaluate('scrollTo(0, 0)')
    await expect.poll(marked).toEqual([headings[0]!.text])
    expect(complaints).toEqual([])
    const without = await open('/docs/apps', { javaScriptEnabled: false })
    expect(await shown(without.page, '.contents a')).toBe(headings.length)
    expect(await shown(without.page, '.contents [aria-current]')).toBe(0)
  })

  it('finds a heading by keyboard alone, and asks for it only then', async () => {
    const { page, complaints } = await open('/docs')
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await page.keyboard.press('/')
    await page.keyboard.type('access ends')
    await page.getByRole('search').getByRole('status').getByText('found').waitFor({ state: 'attached' })
    expect(new Set(asked)).toEqual(new Set(['/docs/search.json']))
    await page.keyboard.press('ArrowDown')
    expect(await page.evaluate('document.activeElement.textContent')).toMatch(/^When access endsApps/)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/apps#when-access-ends')
    expect(complaints).toEqual([])
  })

  it.each([
    ['storage quota', 'storage'],
    ['the quota of a storage', 'storage'],
    ['TOKEN_ISSUER', 'external issuer'],
    ['pgboun', 'PgBouncer'],
    ['429', 'Limits'],
  ])('finds %s', async (text, expected) => {
    const { page } = await open('/docs')
    await page.getByRole('searchbox').fill(text)
    await page.locator('.results a').first().waitFor()
    expect((await page.locator('.results').textContent())!.toLowerCase()).toContain(expected.toLowerCase())
  })

  it('says that nothing is found, takes markup as text, and closes on Escape', async () => {
    const { page } = await open('/docs')
    const field = page.getByRole('searchbox')
    await field.fill('<qqxx onzzqq=zzqq(1)> zzzzqq')
    await page.locator('.results').getByText('Nothing found').waitFor()
    await field.press('Escape')
    expect(await shown(page, '.results')).toBe(0)
    expect(await field.inputValue()).toBe('')
  })

  it('copies code as it is written', async () => {
    const { page } = await open('/docs/first-app', { permissions: ['clipboard-read', 'clipboard-write'] })
    const block = page.locator('.block').first()
    await block.getByRole('button', { name: 'Copy' }).click()
    await block.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await block.locator('code').textContent())
  })

  it('stops for the keyboard at a table that scrolls, and at no other', async () => {
    const stops = `[...document.querySelectorAll('.scrolls, pre')].every((one) => (one.scrollWidth > one.clientWidth) === (one.tabIndex === 0))`
    for (const viewport of [desktop, phone]) {
      const { page } = await open('/docs/portal', { viewport })
      // Until the typefaces are there, texts have the width of another one.
      await page.evaluate('document.fonts.ready.then(() => true)')
      await expect.poll(() => page.evaluate(stops)).toBe(true)
      expect((await page.locator('.scrolls[tabindex]').count()) > 0).toBe(viewport === phone)
    }
  })

  it('keeps the theme that is chosen, over a reload, on other pages and in other windows', async () => {
    const { page, context, complaints } = await open('/docs/apps', { colorScheme: 'light' })
    const ground = (one: Page) => one.evaluate('getComputedStyle(document.body).backgroundColor')
    const light = await ground(page)
    const other = await context.newPage()
    await other.goto(toUrl('/docs/sdk'))
    await page.getByRole('button', { name: 'Theme: system' }).click()
    await page.getByRole('button', { name: 'Theme: light' }).click()
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
    const dark = await ground(page)
    expect(dark).not.toBe(light)
    await other.getByRole('button', { name: 'Theme: dark' }).waitFor()
    expect(await ground(other)).toBe(dark)
    await page.reload()
    expect(await ground(page)).toBe(dark)
    await page.goto(toUrl('/docs'))
    expect(await ground(page)).toBe(dark)
    await page.getByRole('button', { name: 'Theme: dark' }).click()
    await page.getByRole('button', { name: 'Theme: system' }).waitFor()
    expect(await ground(page)).toBe(light)
    expect(complaints).toEqual([])
  })

  it('has the chosen theme before its body is there', async () => {
    const { page } = await open('/docs')
    await page.evaluate(`localStorage.setItem('theme', 'dark')`)
    await page.addInitScript(
      `new MutationObserver(() => { if (document.body) window.first ??= document.documentElement.dataset.theme ?? 'none' }).observe(document, { childList: true, subtree: true })`,
    )
    await page.goto(toUrl('/docs/apps'))
    expect(await page.evaluate('window.first')).toBe('dark')
  })

  it('skips to its content', async () => {
    const { page } = await open('/docs/apps')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(`document.activeElement.closest('main') !== null`)).toBe(true)
  })

  it('prints its text alone, in dark ink, as wide as the paper, with the addresses of links elsewhere', async () => {
    const { page } = await open('/docs/security', { colorScheme: 'dark' })
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    await page.setViewportSize({ width: 700, height: 990 })
    expect(await shown(page, '.side, .contents, .pager, .skip, button')).toBe(0)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(700)
    expect(await page.evaluate(`getComputedStyle(document.body).color`)).toBe('rgb(0, 0, 0)')
    const link = `getComputedStyle(document.querySelector('.text a[href^="https:"]'), '::after').content`
    expect(await page.evaluate(link)).toContain('https://')
  })

  it.each([desktop, phone])('is read without JavaScript: %j', async (viewport) => {
    const { page } = await open('/docs/apps', { javaScriptEnabled: false, viewport })
    expect(await page.locator('main h1').textContent()).toBe('Write an app')
    expect(await shown(page, '.copy')).toBe(0)
    await page.getByRole('searchbox').fill('rate limit')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/docs/search?q=rate+limit')
    expect(await page.locator('.hits mark').count()).toBeGreaterThan(5)
    await page.locator('.hits').getByRole('link', { name: 'Limits' }).first().click()
    await page.waitForURL('**/docs/apps#limits')
    if (viewport === phone) await page.getByText('All pages').click()
    await page.locator('.pages').getByRole('link', { name: 'Developer portal' }).first().click()
    await page.waitForURL('**/docs/portal')
    await page.locator('a[rel=next]').click()
    await page.waitForURL('**/docs/consent')
  })
})
