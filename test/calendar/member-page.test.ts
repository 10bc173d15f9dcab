import { describe, expect, it } from 'vitest'
import { CONSENT_MS } from '../../routers/kernel/access.ts'
import { authWorld, issuer } from '../oauth/auth-world.ts'
import type { Browser, Page } from '../oauth/browser.ts'
import { offered } from '../oauth/browser.ts'
import { createMember } from '../oauth/members.ts'
import { calendarCalls } from './calendar-world.ts'

const auth = authWorld()
const page = `${issuer}/calendar`

/** A member of a club of their own, signed in at the page. */
async function signIn() {
  const { db } = auth.world
  const member = await createMember(db, { email: 'mia@example.org' })
  const { organisationId: club } = await db.membership.findFirstOrThrow({ where: { personId: member } })
  const browser = auth.newBrowser()
  const opened = await browser.submit(await browser.open(page), 'pick', { member })
  return { browser, member, club, opened }
}
const create = (browser: Browser, club: string) => browser.post(`${page}/create`, { club })
const readUrl = ({ text }: Page) => /<input id="address" value="([^"]+)"/.exec(text)?.[1]

describe('the page of calendar addresses', () => {
  it('is linked from the connected apps, and creates an address that it shows once', async () => {
    const { browser, club, opened } = await signIn()
    expect([opened.status, offered(opened, 'club'), offered(opened, 'address')]).toEqual([200, [club], []])
    expect((await browser.open(`${issuer}/connected`)).text).toContain('href="/v1/oauth/calendar"')
    const calls = calendarCalls(auth)
    await calls.addEvent(2, { title: 'Regatta' }, club)
    const created = await create(browser, club)
    const url = readUrl(created)!
    expect(created.status).toBe(200)
    expect(created.text).toContain(`href="${url.replace('http:', 'webcal:')}"`)
    expect(created.headers['cache-control']).toBe('no-store')
    expect((await calls.show(url)).events).toMatchObject([{ title: 'Regatta' }])
    const again = await browser.open(page)
    expect([readUrl(again), offered(again, 'address').length]).toEqual([undefined, 1])
  })

  it("removes an address of the member, an app's too, and nobody else's", async () => {
    const { browser, member, club } = await signIn()
    const calls = calendarCalls(auth)
    const own = readUrl(await create(browser, club))!
    const ofApp = await calls.create(await calls.tokens(member, club))
    const listed = await browser.open(page)
    expect(listed.text).toContain('<bdi>App</bdi>')
    const addresses = offered(listed, 'address')
    const other = await signIn()
    const refused = await other.browser.post(`${page}/remove`, { address: addresses[0]! })
    expect([refused.status, (await calls.read(own)).status]).toEqual([404, 200])
    for (const address of addresses) {
      expect((await browser.post(`${page}/remove`, { address })).text).toContain('The address no longer works.')
    }
    expect([(await calls.read(own)).status, (await calls.read(ofApp)).status]).toEqual([404, 404])
    expect(offered(await browser.open(page), 'address')).toEqual([])
  })

  it('shows a second click on the removal the same, and nothing for what cannot be an address', async () => {
    const { browser, club } = await signIn()
    const [address] = offered(await browser.follow(await create(browser, club)), 'address')
    for (let click = 0; click < 2; click++) {
      const removed = await browser.post(`${page}/remove`, { address: address! })
      expect([removed.status, removed.text.includes('The address no longer works.')]).toEqual([200, true])
    }
    expect((await browser.post(`${page}/remove`, { address: '\0' })).status).toBe(404)
  })

  it.each([
    ['of another club', () => auth.world.ids.club],
    ['unknown', () => 'nowhere'],
    ['no text for PostgreSQL', () => '\0'],
  ])('creates none for a club that is %s', async (_, club) => {
    const { browser, member } = await signIn()
    expect((await create(browser, club())).status).toBe(404)
    expect(await auth.world.db.calendarFeed.count({ where: { personId: member } })).toBe(0)
  })

  it('creates none for an academy of the member', async () => {
    const { browser, member } = await signIn()
    const { academy } = auth.world.ids
    await auth.world.db.membership.create({ data: { organisationId: academy, personId: member } })
    expect((await create(browser, academy)).status).toBe(404)
    expect(await auth.world.db.calendarFeed.count({ where: { personId: member } })).toBe(0)
  })

  it('takes at most 30 changes a minute', async () => {
    const { browser, member, club } = await signIn()
    const statuses = []
    for (let n = 0; n < 30; n++) statuses.push((await create(browser, 'nowhere')).status)
    statuses.push((await create(browser, club)).status)
    expect(statuses).toEqual([...Array(30).fill(404), 429])
    expect(await auth.world.db.calendarFeed.count({ where: { personId: member } })).toBe(0)
  })

  it('lists none whose consent or membership has ended', async () => {
    const { browser, member, club } = await signIn()
    const calls = calendarCalls(auth)
    await calls.create(await calls.tokens(member, club))
    const { createdAt } = await auth.world.db.consent.findFirstOrThrow({ where: { personId: member } })
    const date = (at: Date) =>
      auth.world.db.consent.updateMany({ where: { personId: member }, data: { createdAt: at } })
    await date(new Date(auth.world.core.now() - CONSENT_MS))
    expect(offered(await browser.open(page), 'address')).toEqual([])
    await date(createdAt)
    expect(offered(await browser.open(page), 'address')).toHaveLength(1)
    const ended = { where: { personId: member }, data: { withdrawnAt: new Date() } }
    await auth.world.db.consent.updateMany(ended)
    expect(offered(await browser.open(page), 'address')).toEqual([])
    const url = readUrl(await create(browser, club))!
    await auth.world.db.membership.updateMany({
      where: { personId: member },
      data: { joinedAt: new Date(0), leftAt: new Date() },
    })
    const left = await browser.open(page)
    expect([offered(left, 'address'), offered(left, 'club')]).toEqual([[], []])
    expect((await calls.read(url)).status).toBe(404)
  })
})
