import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { query } from '../support/databases.ts'
import type { AuthWorld } from './auth-world.ts'
import { issuer, startAuthWorld } from './auth-world.ts'

let service: AuthWorld
beforeAll(async () => {
  service = await startAuthWorld()
})
afterAll(() => service.world.close())

it('the cookie of an ended session signs nobody in and stores nothing, however often it is sent', async () => {
  const { url } = service.authorizeUrl({ client: service.client, scope: 'svc.me.profile:read' })
  const browser = service.newBrowser()
  await service.toConsent(browser, url, service.world.ids.member)
  const cookies = [...browser.cookies]
  await browser.submit(await browser.open(`${issuer}/connected`), 'sign-out', {})
  for (let n = 0; n < 10; n++) {
    browser.cookies = [...cookies]
    expect((await browser.open(url)).text).toContain('name="member"')
  }
  const sessions = `SELECT id FROM "OauthRecord" WHERE model = 'Session' AND NOT payload ? 'accountId'`
  expect(await query(inject('databaseUrl'), sessions)).toEqual([])
})
