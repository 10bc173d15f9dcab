import { describe, expect, it } from 'vitest'
import { sharedDatabase } from '../support/world.ts'
import { issuer } from './auth-world.ts'
import type { Page } from './browser.ts'
import { anyEmail } from './code-world.ts'
import { mailedCodeWorld } from './mailed-code-world.ts'
import { createMember } from './members.ts'
import { everything, registerOpenid } from './openid-world.ts'

const connected = `${issuer}/connected`
const db = sharedDatabase()
const world = mailedCodeWorld()
const arrive = () => world.arrive()
const ask = (email: string, browser = arrive()) => browser.post(`${connected}/email`, { email })
const valueIn = ({ text }: Page) => / value="([^"]*)"/.exec(/<input id="email"[^>]*>/.exec(text)![0])?.[1]

describe('the e-mail field', () => {
  it('is empty at first, and has an address that is invalid as it was typed', async () => {
    expect(valueIn(await arrive().open(connected))).toBeUndefined()
    const refused = await ask(' jo@example,org ')
    expect([refused.status, valueIn(refused)]).toEqual([400, 'jo@example,org'])
  })

  it('has text that no address is, escaped, up to the length of one', async () => {
    const refused = await ask(`"><script>${'x'.repeat(1_000)}`)
    expect(refused.text).not.toContain('<script>')
    expect(valueIn(refused)).toBe(`&quot;&gt;&lt;script&gt;${'x'.repeat(254 - 10)}`)
  })

  it('has the address after too many codes', async () => {
    const email = anyEmail()
    await createMember(db, { email })
    for (let n = 1; n <= 15; n++) expect((await ask(email)).status).toBe(200)
    await world.mailServer.codesTo(email, 15)
    const refused = await ask(email)
    expect(refused.text).toContain('Too many codes')
    expect([refused.status, valueIn(refused)]).toEqual([400, email])
  })

  it('has the address whose code is void', async () => {
    const [browser, email] = [arrive(), anyEmail()]
    let page = await ask(email, browser)
    for (let n = 1; n <= 6; n++) page = await browser.submit(page, 'code', { code: 'wrong' })
    expect(page.text).toContain(`action="${new URL(connected).pathname}/email"`)
    expect([page.status, valueIn(page)]).toEqual([400, email])
  })

  it('has what was typed in place of the hint of an app, also when that is nothing', async () => {
    const client = await registerOpenid(world.service)
    const more = { login_hint: 'mia@example.org' }
    const browser = arrive()
    const page = await browser.open(world.service.authorizeUrl({ client, scope: everything, more }).url)
    expect(valueIn(page)).toBe('mia@example.org')
    expect(valueIn(await browser.submit(page, 'email', { email: 'jo@example,org' }))).toBe('jo@example,org')
    expect(valueIn(await browser.submit(page, 'email', { email: ' ' }))).toBeUndefined()
  })
})
