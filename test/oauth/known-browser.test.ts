import { beforeEach, describe, expect, it } from 'vitest'
import { sharedDatabase } from '../support/world.ts'
import { issuer } from './auth-world.ts'
import type { Browser } from './browser.ts'
import { anyAddress, anyEmail } from './code-world.ts'
import { mailedCodeWorld } from './mailed-code-world.ts'
import { createMember } from './members.ts'

const connected = `${issuer}/connected`
const db = sharedDatabase()
const world = mailedCodeWorld()
const arrive = () => world.arrive()
const ask = (browser: Browser, email: string) => browser.post(`${connected}/email`, { email })
const leave = (browser: Browser) => {
  browser.cookies = browser.cookies.filter(({ name }) => name === 'member_browser')
}
const signIn = async (browser: Browser, email: string) => {
  const mails = world.mailServer.mailsTo(email).length
  const asked = await ask(browser, email)
  const codes = await world.mailServer.codesTo(email, mails + 1)
  return browser.submit(asked, 'code', { code: codes.at(-1)! })
}

describe('a browser in which a member has signed in', () => {
  let email: string
  let browser: Browser
  beforeEach(async () => {
    email = anyEmail()
    await createMember(db, { email })
    browser = arrive()
    expect((await signIn(browser, email)).text).toContain('Mia Member')
    leave(browser)
    for (let n = 2; n <= 15; n++) expect((await ask(arrive(), email)).status).toBe(200)
    await world.mailServer.codesTo(email, 15)
  })

  it('can do so again when strangers have requested every code of this hour', async () => {
    const stranger = await ask(arrive(), email)
    expect(stranger.status).toBe(400)
    expect(stranger.text).toContain('Too many codes')
    expect((await signIn(browser, email)).text).toContain('Mia Member')
  })

  it('is known by its own cookie alone, which no script reads', async () => {
    const line = browser.setCookies.findLast((one) => one.startsWith('member_browser='))
    expect(line).toMatch(/; max-age=31536000; path=\/; httponly; samesite=lax$/)
    const other = arrive()
    await other.open(connected)
    expect(other.cookie('member_browser')).toBeDefined()
    expect((await ask(other, email)).status).toBe(400)
    const [cookie] = browser.cookies
    browser.cookies = [{ ...cookie!, value: cookie!.value.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A')) }]
    expect((await ask(browser, email)).status).toBe(400)
  })

  it('has no more than others for another address', async () => {
    const second = anyEmail()
    await createMember(db, { email: second })
    for (let n = 1; n <= 15; n++) expect((await ask(arrive(), second)).status).toBe(200)
    expect((await ask(browser, second)).status).toBe(400)
    expect((await ask(browser, email)).status).toBe(200)
  })

  it('keeps the five members who signed in last', async () => {
    const others = Array.from({ length: 5 }, anyEmail)
    for (const one of others.slice(0, 4)) {
      await createMember(db, { email: one })
      await signIn(browser, one)
      leave(browser)
    }
    expect((await ask(browser, email)).status).toBe(200)
    await createMember(db, { email: others[4]! })
    await signIn(browser, others[4]!)
    leave(browser)
    expect((await ask(browser, email)).status).toBe(400)
  })
})

describe('a request for a code', () => {
  it('is counted by the client behind a trusted proxy, whatever it writes into X-Forwarded-For itself', async () => {
    const email = anyEmail()
    const address = anyAddress()
    const browser = world.service.newBrowser()
    for (let n = 1; n <= 5; n++) {
      browser.headers = { 'x-forwarded-for': `${anyAddress()}, ${address}` }
      expect((await ask(browser, email)).status).toBe(200)
    }
    browser.headers = { 'x-forwarded-for': address }
    expect((await ask(browser, email)).status).toBe(400)
    expect((await ask(arrive(), email)).status).toBe(200)
  })
})
