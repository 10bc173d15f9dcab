import type { Browser, Page } from 'playwright-core'
import type { start } from '../../process/service.ts'
import { pick } from '../sign-in-pages.ts'

/** A team of the demo data at work: a sandbox client, a webhook with deliveries, requests of which some are refused. */
export async function atWork(browser: Browser, service: Awaited<ReturnType<typeof start>>) {
  const portal = `http://auth.localhost:${service.port}/v1/oauth/developers`
  const team = `${portal}/teams/builders`
  const app = `${team}/apps/trainer-app`
  const signIn = async (page: Page) => {
    await page.goto(portal)
    await pick(page)
  }

  const context = await browser.newContext({ locale: 'en-GB' })
  const page = await context.newPage()
  await signIn(page)
  const client = await register(page, app)
  await page.goto(`${app}/webhook`)
  await page.locator('#set-url').fill('https://trainer.example/hook')
  await page.locator('#set-secret').fill('not-a-real-secret')
  await page.locator('form[action$="/set"] button:not(.copy)').click()
  for (const _ of [1, 2, 3]) {
    await page.goto(`${app}/webhook`)
    await page.locator('form[action$="/test"] button').click()
  }
  await page.goto(`${team}/people`)
  await page.locator('#invite-email').fill('dora.nowak@example.org')
  await page.locator('form[action$="/invite"] button').click()
  const person = `${team}/people/anna`
  await call(service)
  // Refusals and counts are written every 2 s.
  await page.goto(`${team}/requests`)
  for (let tries = 0; (await page.locator('tbody tr').count()) < 3 && tries < 40; tries++) {
    await page.waitForTimeout(500)
    await page.reload()
  }
  await context.close()
  return { signIn, portal, team, app, client, person }
}

/** Returns the address of a new sandbox client. */
async function register(page: Page, app: string) {
  await page.goto(`${app}/clients`)
  await page.locator('summary').filter({ hasText: 'New sandbox client' }).click()
  await page.locator('#create-name').fill('Trainer in development')
  await page.locator('#create-redirectUris').fill('http://localhost:5173/callback')
  for (const scope of ['profile', 'events']) await page.locator(`input[value="svc.me.${scope}:read"]`).check()
  await page.locator('form[action$="/create"] button').click()
  return page.url().replace(/\?.*/, '')
}

/** With the token that the service prints at its start. */
async function call({ stdout, port }: { stdout: () => string; port: number }) {
  const [, token] = /Bearer (\S+)'/.exec(stdout())!
  const api = `http://localhost:${port}/apps/v1`
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  for (let at = 0; at < 12; at++) await fetch(`${api}/me/profile`, { headers })
  const plan = `${api}/storage/plans/week-1`
  await fetch(plan, { method: 'PUT', headers, body: JSON.stringify({ value: { runs: 3 } }) })
  for (const path of ['storage/plans/week-2', 'me/events?start=1&end=x']) await fetch(`${api}/${path}`, { headers })
  await fetch(plan, { method: 'PUT', headers: { ...headers, 'if-match': '"old"' }, body: '{"value":1}' })
}
