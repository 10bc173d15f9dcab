import ical from 'node-ical'
import { describe, expect, it } from 'vitest'
import { languages } from '../../../server/browser/language.ts'
import { words } from '../../../server/browser/words/words.ts'
import { chromium, skipReason } from '../../oauth/chromium.ts'
import { expectAccessible } from '../../pages/accessible.ts'
import { send } from '../../support/request.ts'
import { inChromium } from '../in-chromium.ts'
import { pick } from '../sign-in-pages.ts'

describe.skipIf(!chromium)(`a member with a phone${skipReason}`, () => {
  const here = inChromium()

  it.each(languages)('subscribes to the events of the club, and removes the address, in %s', async (language) => {
    const w = words[language]
    // axe is a script, which the pages' policy blocks.
    const { page, complaints } = await here.visit(`http://auth.localhost:${here.service.port}/v1/oauth/calendar`, {
      locale: language,
      viewport: { width: 375, height: 700 },
      bypassCSP: true,
    })
    await pick(page)
    await page.getByRole('heading', { name: w.calendar.title }).waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: w.calendar.create }).first().click()
    const address = page.getByLabel(w.calendar.address)
    await address.waitFor()
    await expectAccessible(page)
    const url = await address.inputValue()
    const { host, pathname } = new URL(url)
    const read = () => send(here.service.port, 'GET', pathname, { headers: { host } })
    expect(await page.getByRole('link', { name: w.calendar.open }).getAttribute('href')).toBe(
      url.replace('http:', 'webcal:'),
    )
    const events = Object.values(ical.sync.parseICS((await read()).text)).filter((one) => one?.type === 'VEVENT')
    expect(events.length).toBeGreaterThan(2)
    await page.getByRole('button', { name: w.calendar.remove }).first().click()
    await page.getByText(w.calendar.removed).waitFor()
    expect((await read()).status).toBe(404)
    expect(complaints).toEqual([])
  })
})
