import { createServer } from 'node:http'
import type { Page } from 'playwright-core'
import type { AtEnd } from '../support/databases.ts'
import { listenLocally } from '../support/local-server.ts'

// What a member does on the authorization server's pages, in a browser.

/** Starts an empty page of an app; returns its address, for redirects: Playwright's routes do not see them. */
export async function startAppPage(atEnd: AtEnd): Promise<string> {
  const server = createServer((_, response) => response.end())
  return `http://localhost:${await listenLocally(server, atEnd)}/`
}

export async function pick(page: Page, member = 'anna') {
  await page.locator('select[name=member]').selectOption(member)
  await page.locator('form[action$="/pick"] button').click()
}

export const decide = (page: Page, decision: 'allow' | 'refuse') =>
  page.locator(`button[name=decision][value=${decision}]`).click()

/** Allows the sample app, unless the member has done so before. */
export async function allowOrContinue(page: Page) {
  const allow = page.locator('button[name=decision][value=allow]')
  await allow.or(page.locator('#sign-out:visible')).first().waitFor()
  // A member of several clubs chooses the one that the others belong to.
  const riverside = page.locator('input[type=radio][name=organisation][value=riverside]')
  if (await riverside.isVisible()) await riverside.check()
  if (await allow.isVisible()) await allow.click()
}
