import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContextOptions } from 'playwright-core'
import { launchChromium } from './chromium.ts'
import { servePages } from './page-server.ts'
import { samplePages } from './sample-pages.ts'
import { smallPng } from './small-png.ts'

// Writes the images of docs/consent.md: npx tsx test/oauth/screenshots.ts [folder]
const folder = process.argv[2] ?? join(import.meta.dirname, '../../docs/images')
const desktop = { viewport: { width: 720, height: 200 } }
const phone = { viewport: { width: 360, height: 640 } }

const pictures: [name: string, path: string, options: BrowserContextOptions][] = [
  ['sign-in', '/sign-in', desktop],
  ['code', '/code', desktop],
  ['consent', '/consent', desktop],
  ['consent-phone', '/consent', phone],
  ['consent-dark', '/consent', { ...desktop, colorScheme: 'dark' }],
  ['connected-apps', '/connected', desktop],
]

await mkdir(folder, { recursive: true })
const [server, browser] = await Promise.all([servePages(samplePages('en')), launchChromium()])
for (const [name, path, options] of pictures) {
  const context = await browser.newContext({ colorScheme: 'light', ...options })
  const page = await context.newPage()
  await page.goto(server.origin + path)
  const file = join(folder, `${name}.png`)
  const picture = smallPng(await page.screenshot({ fullPage: true }))
  await writeFile(file, picture)
  process.stdout.write(`${file}: ${Math.ceil(picture.length / 1024)} KB\n`)
  await context.close()
}
await browser.close()
await server.close()
