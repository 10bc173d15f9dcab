import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { emailCodes } from '../../server/browser/login/email-code.ts'
import { createMailer } from '../../server/browser/login/mail.ts'
import { memoryLimits } from '../../server/limits/memory.ts'
import { sharedDatabase } from '../support/world.ts'
import type { AuthWorld } from './auth-world.ts'
import { startAuthWorld } from './auth-world.ts'
import type { Browser } from './browser.ts'
import { readFormAction } from './browser.ts'
import { anyEmail, FROM } from './code-world.ts'
import { startMailServer } from './mail-server.ts'
import { createMember } from './members.ts'

const authBaseUrl = 'https://auth.test/v1'
const issuer = `${authBaseUrl}/oauth`
const connected = `${issuer}/connected`
const scope = 'svc.me.profile:read'

const db = sharedDatabase()
let mailServer: Awaited<ReturnType<typeof startMailServer>>
let service: AuthWorld
let attacker: string
beforeAll(async () => {
  mailServer = await startMailServer()
  const sendMail = createMailer(mailServer.url, FROM)
  const codes = emailCodes({ db, now: Date.now, sendMail, onError: () => {}, limits: memoryLimits(() => 0) })
  service = await startAuthWorld({ auth: { codes }, authBaseUrl })
  attacker = anyEmail()
  await createMember(db, { email: attacker, firstName: 'Eve' })
})
afterAll(async () => {
  await service.world.close()
  await mailServer.close()
})

const request = () => service.authorizeUrl({ client: service.client, scope }).url
const withCode = async (browser: Browser, url: string | URL, email: string) => {
  const mails = mailServer.mailsTo(email).length
  const asked = await browser.submit(await browser.open(url), 'email', { email })
  const codes = await mailServer.codesTo(email, mails + 1)
  return browser.submit(asked, 'code', { code: codes.at(-1)! })
}
const pick = async (browser: Browser, url: string | URL) =>
  browser.submit(await browser.open(url), 'pick', { member: service.world.ids.member })

/** What another host of the site can set for ours: every cookie that a browser does not keep for its own host. */
const plant = (from: Browser, into: Browser) =>
  into.cookies.unshift(...from.cookies.filter(({ name }) => !name.startsWith('__Host-')))

describe('where the address is https', () => {
  it('every cookie is Secure, HttpOnly and SameSite, and its name has the strictest prefix of its path', async () => {
    const browser = service.newBrowser()
    const consent = await withCode(browser, request(), attacker)
    await browser.submit(consent, 'consent', { decision: 'refuse' })
    await browser.submit(await browser.open(connected), 'sign-out', {})
    await withCode(browser, connected, attacker)
    await browser.submit(await browser.open(connected), 'sign-out', {})
    await pick(browser, connected)

    const names = new Set(browser.setCookies.map((line) => line.split('=')[0]!.replace(/\.sig$/, '')))
    expect([...names].sort()).toEqual([
      '__Host-member_browser',
      '__Host-member_session',
      '__Secure-member_address',
      '__Secure-member_attempt',
      '__Secure-member_email',
      '__Secure-member_found',
      '__Secure-member_interaction',
      '__Secure-member_repeat',
      '__Secure-member_request',
      '__Secure-member_resume',
    ])
    for (const line of browser.setCookies) {
      expect(line).toMatch(/; secure(?:;|$)/i)
      expect(line).toMatch(/; httponly(?:;|$)/i)
      expect(line).toMatch(/; samesite=lax(?:;|$)/i)
      expect(line).not.toMatch(/; domain/i)
      expect(line.startsWith('__Host-')).toBe(/; path=\/(?:;|$)/i.test(line))
    }
  })
})

describe('cookies that another host of the site planted', () => {
  it('do not let a member sign in for the request of another browser', async () => {
    const theirs = service.newBrowser()
    const page = await theirs.open(request())
    const victim = service.newBrowser()
    await victim.open(connected)
    plant(theirs, victim)
    expect((await victim.get(page.url)).status).toBe(400)
    const answer = await victim.post(`${page.url}/pick`, { member: service.world.ids.member })
    expect([answer.status, answer.location]).toEqual([400, undefined])
    expect(victim.cookie('__Host-member_session')).toBeUndefined()
    // Their own browser can.
    expect((await theirs.submit(page, 'pick', { member: service.world.ids.member })).text).toContain('name="decision"')
  })

  it('do not sign a member in as somebody else', async () => {
    const theirs = service.newBrowser()
    await withCode(theirs, connected, attacker)
    // Their cookies of the last step, which the sign-in has cleared.
    const cleared = theirs.setCookies.filter((line) => /^__Secure-member_(?:attempt|found|email)=[^;]/.test(line))
    for (const line of cleared) {
      const [, name, value] = /^([^=]+)=([^;]+)/.exec(line)!
      const path = new URL(connected).pathname
      theirs.cookies.push({ host: 'auth.test', path, name: name!, value: value!, attributes: '' })
    }
    expect(cleared.length).toBeGreaterThanOrEqual(3)
    const victim = service.newBrowser()
    plant(theirs, victim)
    await victim.open(`${connected}/person`)
    expect(victim.cookie('__Host-member_session')).toBeUndefined()
    const { text } = await victim.open(connected)
    expect(text).toContain('Sign in')
  })

  it('do not make a member allow or continue the request of another member', async () => {
    const theirs = service.newBrowser()
    const consent = await withCode(theirs, request(), attacker)
    const victim = service.newBrowser()
    await pick(victim, connected)
    const before = victim.cookie('__Host-member_session')!.value
    plant(theirs, victim)
    expect((await victim.get(consent.url)).status).toBe(400)
    const answer = await victim.post(new URL(`${readFormAction(consent)}/consent`, consent.url), { decision: 'refuse' })
    expect([answer.status, answer.location]).toEqual([400, undefined])
    const resumed = await victim.get(`${issuer}/authorize/${consent.url.pathname.split('/').at(-1)}`)
    expect([resumed.status, resumed.location]).toEqual([400, undefined])
    expect(victim.cookie('__Host-member_session')!.value).toBe(before)
    expect((await victim.open(connected)).text).toContain('Mia Member')
  })
})

describe('a sign-in', () => {
  it('starts a session with an id of its own, in the browser that signed in alone', async () => {
    const theirs = service.newBrowser()
    const page = await theirs.open(request())
    const copy = service.newBrowser()
    copy.cookies = [...theirs.cookies]
    const consent = await theirs.submit(page, 'pick', { member: service.world.ids.member })
    expect(consent.text).toContain('name="decision"')
    expect(copy.cookie('__Host-member_session')).toBeUndefined()
    const uid = page.url.pathname.split('/').at(-1)
    expect((await copy.get(`${issuer}/authorize/${uid}`)).status).toBe(400)
    expect((await copy.open(connected)).text).toContain('Sign in')
  })
})
