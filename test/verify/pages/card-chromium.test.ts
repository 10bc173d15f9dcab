import jsQR from 'jsqr'
import type { Page } from 'playwright-core'
import { PNG } from 'pngjs'
import { describe, expect, it } from 'vitest'
import { languages } from '../../../server/browser/language.ts'
import { words } from '../../../server/browser/words/words.ts'
import { chromium, skipReason } from '../../oauth/chromium.ts'
import { expectAccessible } from '../../pages/accessible.ts'
import { inChromium } from '../in-chromium.ts'
import { pick } from '../sign-in-pages.ts'

/** Typed as a module that has it as `default`. */
const scan = jsQR as unknown as typeof jsQR.default

/** An iPhone's width. */
const viewport = { width: 375, height: 667 }

describe.skipIf(!chromium)(`the card of a member${skipReason}`, () => {
  const here = inChromium()
  const address = () => `http://auth.localhost:${here.service.port}/v1`

  const decode = async (page: Page) => {
    const { data, width, height } = PNG.sync.read(await page.locator('.qr').screenshot())
    return scan(new Uint8ClampedArray(data), width, height)?.data
  }

  it.each(['light', 'dark'] as const)(
    'has a QR that a scanner reads on a phone in %s mode, and on paper',
    async (colorScheme) => {
      const { page, complaints } = await here.visit(`${address()}/oauth/card`, {
        colorScheme,
        viewport,
        deviceScaleFactor: 2,
      })
      await pick(page)
      await page.locator('.qr').waitFor()
      const url = await decode(page)
      expect(url).toMatch(new RegExp(`^${address()}/card/[\\w.-]+$`))
      expect(url!.length).toBeLessThanOrEqual(400)
      await page.emulateMedia({ media: 'print' })
      expect(await decode(page)).toBe(url)
      expect(complaints).toEqual([])
      const stranger = await here.visit(url, { colorScheme, viewport })
      expect(await stranger.page.locator('main').innerText()).toContain('This card is valid.')
      expect(await stranger.context.cookies()).toEqual([])
      expect(stranger.complaints).toEqual([])
    },
  )

  it.each(languages)('is shown, and checked by a stranger, in %s', async (language) => {
    const w = words[language].card
    const { page } = await here.visit(`${address()}/oauth/card`, { locale: language, viewport, bypassCSP: true })
    await pick(page)
    await page.getByRole('heading', { name: w.own }).waitFor()
    await expectAccessible(page)
    await page.goto((await decode(page))!)
    expect(await page.locator('main').innerText()).toContain(w.valid)
    await expectAccessible(page)
    await page.goto(`${address()}/card/x`)
    expect(await page.locator('main').innerText()).toContain(w.unknown)
    await expectAccessible(page)
  })
})
