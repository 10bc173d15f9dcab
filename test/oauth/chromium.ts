import { existsSync } from 'node:fs'
import { chromium as browsers } from 'playwright-core'

const usual = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** The browser's executable. If CHROMIUM is set but missing, tests fail instead of being skipped. */
export const chromium: string | undefined = process.env.CHROMIUM || usual.find((path) => existsSync(path))

/** Part of the titles of skipped tests. */
export const skipReason = chromium ? '' : ' (skipped: no Chromium found; set CHROMIUM to its path)'

const args = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export function launchChromium(more: string[] = []) {
  if (!chromium) throw new Error('No Chromium found. Set CHROMIUM to its path.')
  return browsers.launch({ executablePath: chromium, args: [...args, ...more] })
}
