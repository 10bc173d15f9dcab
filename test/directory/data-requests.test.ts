import { beforeEach, describe, expect, it } from 'vitest'
import { answerRequest, removeAnsweredRequests, requestData } from '../../routers/personal-data/requests.ts'
import { issuer, ownAuthWorld } from '../oauth/auth-world.ts'
import { mintMember } from '../support/app-server.ts'
import { asPlatform, readRefusal } from '../support/platform.ts'
import { reportingDue } from '../support/reported-due.ts'
import { id } from '../support/tenant.ts'
import { mintSubscribed } from './member-world.ts'

const DAY_MS = 86_400_000
const auth = ownAuthWorld()
const address = `${issuer}/connected`

let member: string
let app: Awaited<ReturnType<typeof mintSubscribed>>
beforeEach(async () => {
  member = await mintMember(auth.world)
  app = await mintSubscribed(auth.world)
})

const requests = () => auth.world.db.dataRequest.findMany({ where: { personId: member }, orderBy: { id: 'asc' } })
const platform = () => asPlatform(auth.world).directory.dataRequests
const consent = (more: object = {}) => app.consent({ person: member, organisation: auth.world.ids.club, ...more })
const signIn = async () => {
  const browser = auth.newBrowser()
  const page = await browser.open(address)
  return { browser, page: await browser.submit(page, 'pick', { member }) }
}
const ask = () => requestData(auth.world.db, member, auth.world.core.now())

describe('the page of connected apps', () => {
  it('takes a request, says until when it is answered, and takes no second one', async () => {
    const { browser, page } = await signIn()
    expect(page.text).toContain('Ask for a copy of my data')
    const asked = await reportingDue(auth.world.core, () => browser.post(`${address}/data`, {}))
    const [request, ...more] = await requests()
    expect([asked.status, more]).toEqual([200, []])
    expect(request!.deadline.getTime() - request!.requestedAt.getTime()).toBe(30 * DAY_MS)
    expect(asked.text).toContain(request!.deadline.toISOString())
    expect(asked.text).not.toContain('Ask for a copy of my data')
    expect((await browser.post(`${address}/data`, {})).status).toBe(200)
    expect(await requests()).toEqual([request])
    await platform().answer({ id: request!.id })
    expect((await browser.open(address)).text).toContain('Ask for a copy of my data')
  })

  it('takes none from another site, or from who is not signed in', async () => {
    const { browser } = await signIn()
    const refused = await browser.post(`${address}/data`, {}, { origin: 'https://evil.example' })
    expect(refused.status).toBe(403)
    const stranger = await auth.newBrowser().post(`${address}/data`, {})
    expect(stranger.location?.href).toBe(address)
    expect(await requests()).toEqual([])
  })

  it('opens again where its form led to', async () => {
    const { browser } = await signIn()
    expect((await browser.get(`${address}/data`)).location?.href).toBe(address)
    expect(await requests()).toEqual([])
  })

  it('refuses the eleventh request in a minute', async () => {
    const { browser } = await signIn()
    const posted = []
    for (let n = 0; n < 11; n++) posted.push((await browser.post(`${address}/data`, {})).status)
    expect(posted).toEqual([...Array(10).fill(200), 429])
  })
})

describe('member.data_requested', () => {
  it('goes to apps with a consent in force, for each organisation, with ids and the deadline', async () => {
    const { club, academy } = auth.world.ids
    await auth.world.db.membership.create({ data: { organisationId: academy, personId: member } })
    await consent()
    await consent({ organisation: academy, scopes: [] })
    const withdrawn = await mintSubscribed(auth.world)
    await withdrawn.consent({ person: member, organisation: club })
    await auth.world.db.consent.updateMany({ where: { clientId: withdrawn.client }, data: { withdrawnAt: new Date() } })
    await withdrawn.heard()
    expect(await ask()).toBe(true)
    const [request] = await requests()
    const events = await app.heard()
    const data = { memberId: member, requestId: request!.id, deadline: request!.deadline.toISOString() }
    expect(events.map(({ type }) => type)).toEqual(['member.data_requested', 'member.data_requested'])
    expect(events.map((event) => event.data)).toEqual(
      expect.arrayContaining([club, academy].map((organisationId) => ({ organisationId, ...data }))),
    )
    expect(await withdrawn.heard()).toEqual([])
  })

  it('does not come where the consent, the membership or the person ends before it is published', async () => {
    const given = await consent()
    await ask()
    await auth.world.db.consent.update({ where: { id: given }, data: { withdrawnAt: new Date() } })
    expect((await app.heard()).map(({ type }) => type)).toEqual(['consent.withdrawn'])
    await consent()
    await platform().answer({ id: (await requests())[0]!.id })
    await ask()
    await asPlatform(auth.world).directory.people.erase({ id: member })
    expect((await app.heard()).map(({ type }) => type)).toEqual(['member.left'])
    expect(await requests()).toEqual([])
  })

  it('comes once for requests at once', async () => {
    await consent()
    const stored = await Promise.all([ask(), ask(), ask()])
    expect(stored.filter(Boolean)).toHaveLength(1)
    expect(await requests()).toHaveLength(1)
    expect(await app.heard()).toHaveLength(1)
  })
})

describe('the platform', () => {
  it('reads the open requests, the oldest first and by pages, and ends each once', async () => {
    const others = [member, await mintMember(auth.world), await mintMember(auth.world)]
    for (const one of others) await requestData(auth.world.db, one, auth.world.core.now())
    const all = await readAll()
    const own = all.filter(({ person }) => others.includes(person))
    expect(own.map(({ person }) => person)).toEqual(others)
    expect(own[0]!.deadline - own[0]!.requestedAt).toBe(30 * 86_400)
    const [request] = await requests()
    await platform().answer({ id: request!.id })
    const [answered] = await requests()
    expect(answered!.answeredAt).toBeInstanceOf(Date)
    auth.world.advance(60)
    await platform().answer({ id: request!.id })
    expect(await requests()).toEqual([answered])
    expect((await readAll()).map(({ person }) => person)).not.toContain(member)
  })

  it('ends a request whose node had a clock ahead of its own', async () => {
    await ask()
    const [request] = await requests()
    await answerRequest(auth.world.db, request!.id, +request!.requestedAt - 1)
    expect((await requests())[0]!.answeredAt).toEqual(request!.requestedAt)
  })

  it.each([id('none'), '', 'a\0b'])('cannot end the request %j, which does not exist', async (unknown) => {
    const message = 'This request for data does not exist.'
    expect(await readRefusal(platform().answer({ id: unknown }))).toMatchObject({ status: 404, message })
  })
})

/** All open requests, two at a time. */
async function readAll() {
  const all = []
  for (let after: string | undefined; ; after = all.at(-1)!.id) {
    const { items, more } = await platform().list({ limit: 2, ...(after !== undefined && { after }) })
    all.push(...items)
    if (!more) return all
  }
}

it('removes requests a year after their answer, and keeps open ones', async () => {
  const now = auth.world.core.now()
  const times = { personId: member, requestedAt: new Date(now - 500 * DAY_MS), deadline: new Date(now) }
  const rows = { open: null, kept: new Date(now - 365 * DAY_MS + 1), gone: new Date(now - 365 * DAY_MS) }
  const data = Object.entries(rows).map(([name, answeredAt]) => ({ ...times, id: `${name}-${member}`, answeredAt }))
  await auth.world.db.dataRequest.createMany({ data })
  await removeAnsweredRequests(auth.world.db, now)
  expect((await requests()).map((row) => row.id)).toEqual([`kept-${member}`, `open-${member}`])
})
