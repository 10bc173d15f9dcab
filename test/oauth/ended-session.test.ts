import { expect, inject, it } from 'vitest'
import { query } from '../support/databases.ts'
import { authWorld, issuer } from './auth-world.ts'

const service = authWorld()

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

it('a session ends 8 hours after its last use, and its id has 43 random characters', async () => {
  const { url } = service.authorizeUrl({ client: service.client, scope: 'svc.me.profile:read' })
  const browser = service.newBrowser()
  await service.toConsent(browser, url, service.world.ids.member)
  expect(browser.cookie('member_session')!.value).toMatch(/^[\w-]{43}$/)
  const [almost, more] = [8 * 3600 - 60, 8 * 3600 + 1]
  for (let n = 0; n < 2; n++) {
    service.world.advance(almost)
    expect((await browser.open(url)).text).toContain('name="decision"')
  }
  service.world.advance(more)
  expect((await browser.open(url)).text).toContain('name="member"')
  service.world.advance(-2 * almost - more)
})

it('another sign-in of the same person ends the session before it', async () => {
  const asked = { client: service.client, scope: 'svc.me.profile:read' }
  const browser = service.newBrowser()
  await service.toConsent(browser, service.authorizeUrl(asked).url, service.world.ids.member)
  const former = service.newBrowser()
  former.cookies = [...browser.cookies]
  const again = await browser.open(service.authorizeUrl({ ...asked, more: { prompt: 'login' } }).url)
  expect((await browser.submit(again, 'pick', { member: service.world.ids.member })).text).toContain('name="decision"')
  expect((await browser.open(`${issuer}/connected`)).text).toContain('Mia Member')
  expect((await former.open(`${issuer}/connected`)).text).toContain('name="member"')
})
