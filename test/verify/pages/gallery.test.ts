import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromium, launchHeadlessShell, skipReason } from '../../oauth/chromium.ts'
import { expectAccessible } from '../../pages/accessible.ts'
import type { World } from '../../support/world.ts'
import { startWorld } from '../../support/world.ts'

let world: World
let browser: Browser
beforeAll(async () => {
  if (!chromium) return
  world = await startWorld({ auth: {}, trial: true })
  browser = await launchHeadlessShell([`--host-resolver-rules=MAP auth.test 127.0.0.1:${world.publicPort}`])
})
afterAll(async () => {
  await browser?.close()
  await world?.close()
})

const look = 'http://auth.test/look'

describe.skipIf(!chromium)(`the gallery in Chromium${skipReason}`, () => {
  it.each(
    [320, 375, 768, 1_440].flatMap((width) =>
      (['en', 'de'] as const).flatMap((language) =>
        (['light', 'dark'] as const).map((theme) => [width, language, theme] as const),
      ),
    ),
  )('breaks no rule of WCAG AA and fits %s px: %s, %s', async (width, language, colorScheme) => {
    // Without motion: buttons fade from one colour scheme to the other.
    const context = await browser.newContext({
      bypassCSP: true,
      reducedMotion: 'reduce',
      colorScheme,
      hasTouch: width < 768,
      viewport: { width, height: 800 },
    })
    const page = await context.newPage()
    await page.goto(`${look}?language=${language}`)
    expect(await page.evaluate(`matchMedia('(pointer: coarse)').matches`)).toBe(width < 768)
    await page.evaluate(`document.querySelectorAll('details').forEach((one) => { one.open = true })`)
    await expectAccessible(page)
    await context.close()
  })

  it("shows times in the reader's zone, names it, and copies code", async () => {
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Asia/Kolkata' })
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (line) => /Content Security Policy/.test(line.text()) && complaints.push(line.text()))
    await page.addInitScript(`navigator.clipboard ??= { writeText: async (text) => { window.copied = text } }`)
    await page.goto(look)
    const [title, iso] = (await page.evaluate(
      `(({ title, dateTime }) => [title, dateTime])(document.querySelector('#times time'))`,
    )) as [string, string]
    const local = new Intl.DateTimeFormat('en-GB', {
      dateStyle: 'medium',
      timeStyle: 'long',
      timeZone: 'Asia/Kolkata',
    })
    expect(title).toBe(local.format(new Date(iso)))
    expect(await page.locator('#times .hint').textContent()).toBe('All times are in the time zone Asia/Calcutta.')
    await page.getByRole('button', { name: /^Copy\b.*curl/ }).click()
    await page.getByRole('button', { name: /^Copied\b.*curl/ }).waitFor()
    expect(await page.evaluate('window.copied')).toMatch(/^curl -H/)
    expect(complaints).toEqual([])
    await context.close()
  })

  it('says without scripts that times are UTC, and has no button that does nothing', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${look}?language=en`)
    expect(await page.locator('#times .hint').textContent()).toBe('All times are UTC.')
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0)
    await context.close()
  })
})
