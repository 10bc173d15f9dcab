import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { launchChromium } from '../../oauth/chromium.ts'
import { smallPng } from '../../oauth/small-png.ts'
import { start } from '../../process/service.ts'
import { decide, pick } from '../sign-in-pages.ts'
import { memberPages, takeMemberPages } from './screenshots-member.ts'
import { atWork } from './screenshots-team.ts'

// Writes all images of the documents, after a build: npx tsx test/verify/pages/screenshots.ts [folder] [part of a name]
const folder = process.argv[2] ?? join(import.meta.dirname, '../../../docs/images')
const wanted = process.argv[3] ?? ''
/** Members' pages have icons, and need more colours. */
const maxBytes = (name: string) => (name.startsWith('portal-') ? 20_000 : 40_000)

const variants = {
  '': { viewport: { width: 800, height: 200 }, colorScheme: 'light' },
  '-phone': { viewport: { width: 375, height: 200 }, colorScheme: 'light' },
  '-dark': { viewport: { width: 800, height: 200 }, colorScheme: 'dark' },
} satisfies Record<string, BrowserContextOptions>
/** The pages that are shown on a phone and dark too. */
const samples = ['sample-app', 'consent', 'portal-team']
/** A long page is cut here. */
const MAX_HEIGHT = 1_280

/** With as many colours as fit. */
function compressPicture(name: string, png: Buffer) {
  for (const colours of [48, 32, 24, 16, 12, 8, 6]) {
    const small = smallPng(png, colours)
    if (small.length <= maxBytes(name) || colours === 6) return small
  }
}

async function take(page: Page, name: string) {
  const height = Math.min(MAX_HEIGHT, await page.evaluate<number>('document.documentElement.scrollHeight'))
  await page.setViewportSize({ width: page.viewportSize()!.width, height: Math.ceil(height) })
  await page.evaluate('scrollTo(0, 0)')
  const picture = compressPicture(name, await page.screenshot())!
  await writeFile(join(folder, `${name}.png`), picture)
  process.stdout.write(`${name}: ${Math.ceil(picture.length / 1000)} kB\n`)
}

/** Takes these pages, samples in each look; `enter` signs in first. */
async function pictures(
  browser: Browser,
  addresses: Record<string, string>,
  enter: (page: Page, context: BrowserContext) => unknown = () => {},
) {
  const chosen = Object.entries(addresses).filter(([name]) => name.includes(wanted))
  for (const [variant, options] of Object.entries(variants)) {
    const shown = chosen.filter(([name]) => variant === '' || samples.includes(name))
    if (shown.length === 0) continue
    const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options })
    const page = await context.newPage()
    await enter(page, context)
    for (const [name, address] of shown) {
      await page.setViewportSize(options.viewport)
      if (address !== '') await page.goto(address)
      await take(page, name + variant)
    }
    await context.close()
  }
}

async function signInToSampleApp(page: Page, address: string, member = 'anna') {
  await page.goto(address)
  await page.locator('#sign-in').click()
  await pick(page, member)
  await decide(page, 'allow')
  await page.locator('#score-name:enabled').waitFor()
  if ((await page.locator('#scores li').count()) > 0) return
  for (const [name, points] of Object.entries({ U16: 3, Seniors: 2 })) {
    await page.locator('#score-name:enabled').fill(name)
    await page.locator('#score-form button').click()
    const add = page.getByRole('button', { name: `+1 ${name}` })
    for (let n = 1; n <= points; n++) {
      await add.click()
      const row = page.locator('#scores li', { hasText: name })
      await row.locator('output', { hasText: String(n) }).waitFor()
    }
  }
}

/** Two members at the same score board; what one of them adds has come to the other. */
async function takeTwoBrowsers(browser: Browser, address: string) {
  const open = async (member: string) => {
    const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 400, height: 480 } })
    const page = await context.newPage()
    await signInToSampleApp(page, address, member)
    return page
  }
  const [anna, ben] = [await open('anna'), await open('ben')]
  const points = (page: Page) => page.locator('#scores li', { hasText: 'U16' }).locator('output')
  const before = Number(await points(anna).textContent())
  await anna.getByRole('button', { name: '+1 U16' }).click()
  await points(ben)
    .filter({ hasText: String(before + 1) })
    .waitFor()
  const shots = await Promise.all(
    [anna, ben].map(async (page) => {
      await page.evaluate(`document.querySelector('#score-form').scrollIntoView({ block: 'end' })`)
      return page.screenshot()
    }),
  )
  const images = shots.map((png) => `<img src="data:image/png;base64,${png.toString('base64')}">`)
  const both = await browser.newPage({ viewport: { width: 820, height: 480 } })
  await both.setContent(`<body style="margin: 0; display: flex; gap: 20px; background: #888">${images.join('')}</body>`)
  await take(both, 'sample-app-two-browsers')
}

await mkdir(folder, { recursive: true })
const data = await mkdtemp(join(tmpdir(), 'member-apps-screenshots-'))
const [browser, service] = await Promise.all([launchChromium(), start({ DATA_DIR: data }, { atEnd: () => {} })])

if (memberPages.some((name) => name.includes(wanted)))
  await takeMemberPages(browser, (addresses, enter) => pictures(browser, addresses, enter))
await pictures(browser, {
  reference: `http://apps.localhost:${service.port}/v1/docs`,
  'reference-errors': `http://apps.localhost:${service.port}/v1/docs/errors`,
})
await pictures(browser, { 'sample-app': '' }, (page) =>
  signInToSampleApp(page, `http://example.localhost:${service.port}/`),
)
if ('sample-app-two-browsers'.includes(wanted))
  await takeTwoBrowsers(browser, `http://example.localhost:${service.port}/`)
const { signIn, portal, team, app, client, person } = await atWork(browser, service)
await pictures(
  browser,
  {
    'portal-teams': portal,
    'portal-team': team,
    'portal-people': `${team}/people`,
    'portal-remove-person': `${person}/remove`,
    'portal-usage': `${team}/usage`,
    'portal-requests': `${team}/requests`,
    'portal-audit': `${team}/audit`,
    'portal-test-club': `${team}/test-club`,
    'portal-reset-test-club': `${team}/test-club/reset`,
    'portal-data': `${app}/data`,
    'portal-mails': `${portal}/mails`,
    'portal-production': `${client}/production`,
    'portal-app': app,
    'portal-webhook': `${app}/webhook`,
    'portal-remove-webhook': `${app}/webhook/remove`,
    'portal-deliveries': `${app}/deliveries`,
    'portal-client': client,
    'portal-remove-client': `${client}/remove`,
  },
  signIn,
)

await Promise.all([browser.close(), service.stop()])
await rm(data, { recursive: true, force: true })
