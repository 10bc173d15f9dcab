import type { BrowserContextOptions } from 'playwright-core'
import { onTestFinished } from 'vitest'
import { launchHeadlessShell } from '../oauth/chromium.ts'
import { dataDirectoryWithCluster, start } from '../process/service.ts'
import type { AtEnd } from '../support/databases.ts'
import { startedTogether } from './at-end.ts'

/** For all tests of a `describe`: a service with a database of its own, and Chromium. `settings` may prepare more than settings. */
export function inChromium(
  settings: (directory: string, atEnd: AtEnd) => Promise<Record<string, string>> = async () => ({}),
) {
  return startedTogether(async (atEnd) => {
    const DATA_DIR = await dataDirectoryWithCluster(atEnd)
    const env: Record<string, string> = { DATA_DIR, ...(await settings(DATA_DIR, atEnd)) }
    const service = await start(env, { atEnd })
    const browser = await launchHeadlessShell()
    atEnd(() => browser.close())
    /** A page in a new browser, until the test ends; its console's errors and its requests are collected. */
    const visit = async (url?: string, options: BrowserContextOptions = {}) => {
      const context = await browser.newContext({ locale: 'en-GB', ...options })
      onTestFinished(() => context.close())
      const page = await context.newPage()
      page.setDefaultTimeout(120_000)
      const [complaints, requests]: [string[], string[]] = [[], []]
      page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()))
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('request', (request) => request.url().startsWith('data:') || requests.push(request.url()))
      if (url) await page.goto(url)
      return { context, page, complaints, requests }
    }
    /** The address of the sample app, which a trial prints. */
    const sampleApp = /as an app does: (\S+)/.exec(service.stdout())?.[1] ?? ''
    return { service, browser, env, atEnd, visit, sampleApp }
  })
}
