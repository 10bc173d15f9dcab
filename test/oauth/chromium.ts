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

const launch = (executablePath: string | undefined, more: string[]) => {
  if (!executablePath) throw new Error('No Chromium found. Set CHROMIUM to its path.')
  return browsers.launch({ executablePath, args: [...args, ...more] })
}

/** The whole browser, as members have it. */
export const launchChromium = (more: string[] = []) => launch(chromium, more)

const shell = '/usr/bin/chromium-headless-shell'

/**
 * Chromium's engine without the browser around it, where it is installed, else Chromium. Playwright's default: it takes two
 * thirds of the CPU time.
 */
export const launchHeadlessShell = (more: string[] = []) =>
  launch(process.env.CHROMIUM || (existsSync(shell) ? shell : chromium), more)
