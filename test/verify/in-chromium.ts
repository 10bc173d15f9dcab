import type { BrowserContextOptions } from 'playwright-core'
import { launchHeadlessShell } from '../oauth/chromium.ts'
import { dataDirectoryWithCluster, start } from '../process/service.ts'
import type { AtEnd } from '../support/databases.ts'
import { started } from '../support/started.ts'

/** For all tests of a `describe`: a service with a database of its own, and Chromium. `settings` may prepare more than settings. */
export function inChromium(
  settings: (directory: string, atEnd: AtEnd) => Promise<Record<string, string>> = async () => ({}),
) {
  // Outside of what is opened, so that they also end after a failed start.
  const ends: (() => Promise<void>)[] = []
  const atEnd: AtEnd = (end) => void ends.unshift(end)
  return started(
    async () => {
      const DATA_DIR = await dataDirectoryWithCluster(atEnd)
      const env: Record<string, string> = { DATA_DIR, ...(await settings(DATA_DIR, atEnd)) }
      const service = await start(env, { atEnd })
      const browser = await launchHeadlessShell()
      atEnd(() => browser.close())
      /** A new browser; its console's errors are collected. */
      const visit = async (options: BrowserContextOptions = {}) => {
        const context = await browser.newContext({ locale: 'en-GB', ...options })
        const page = await context.newPage()
        page.setDefaultTimeout(30_000)
        const complaints: string[] = []
        page.on('console', (line) => line.type() === 'error' && complaints.push(line.text()))
        page.on('pageerror', (error) => complaints.push(error.message))
        return { context, page, complaints }
      }
      return { service, browser, env, atEnd, visit }
    },
    async () => {
      for (const end of ends) await end()
    },
  )
}
