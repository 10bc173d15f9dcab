import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { launchChromium } from '../oauth/chromium.ts'
import { smallPng } from '../oauth/small-png.ts'
import { start } from './service.ts'

// Writes the images of the sample app: npx tsx test/process/screenshots.ts [folder]
const folder = process.argv[2] ?? join(import.meta.dirname, '../../docs/images')

const data = await mkdtemp(join(tmpdir(), 'member-apps-screenshots-'))
const service = await start({ DATA_DIR: data }, { atEnd: () => {} })
const browser = await launchChromium()

async function picture(name: string, options: BrowserContextOptions) {
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...options })
  const page = await context.newPage()
  await page.goto(`http://example.localhost:${service.port}/`)
  await signIn(page)
  const file = join(folder, `${name}.png`)
  const image = smallPng(await page.screenshot())
  await writeFile(file, image)
  process.stdout.write(`${file}: ${Math.ceil(image.length / 1024)} KB\n`)
  await context.close()
}

async function signIn(page: Page) {
  await page.locator('#sign-in').click()
  await page.locator('select[name=member]').selectOption('anna')
  await page.locator('form[action$="/pick"] button').click()
  await page.locator('button[name=decision][value=allow]').click()
  await page.locator('#note:enabled').fill('U16: bring the starting blocks.')
  await page.locator('#note-form button').click()
  await page.locator('#message.done').waitFor()
  await page.evaluate('scrollTo(0, 0)')
}

await picture('sample-app', { viewport: { width: 960, height: 780 } })
await picture('sample-app-phone', { viewport: { width: 360, height: 780 }, colorScheme: 'dark', locale: 'de-DE' })

await browser.close()
await service.stop()
await rm(data, { recursive: true, force: true })
