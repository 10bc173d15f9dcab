import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { parseSamples } from '../metrics/samples.ts'
import { createDeveloper } from '../request-log/developers.ts'
import { id } from '../support/tenant.ts'
import type { AuthWorld } from './auth-world.ts'
import { issuer, register, twoNodes } from './auth-world.ts'
import type { Browser } from './browser.ts'
import { offered } from './browser.ts'

const { here, there } = twoNodes()

const scope = 'svc.me.profile:read'
const connected = `${issuer}/connected`
/** Each test has its own. */
let client: string
beforeEach(async () => {
  client = await register(here.world)
})

const signIn = async () => {
  const browser = here.newBrowser()
  const tokens = await here.toTokens({ client, scope }, here.world.ids.member, here.world.ids.club, browser)
  return { browser, first: tokens.refresh_token }
}
const renew = async (token: string, node: AuthWorld = here, as = client) => (await node.refresh(as, token)).status
const stored = () =>
  here.world.db.consent.findMany({
    where: { clientId: client },
    select: { withdrawnAt: true, replayedAt: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
const NOTICE = 'one of its sign-in keys was used twice'
let developer: Awaited<ReturnType<typeof createDeveloper>>
beforeAll(async () => {
  developer = await createDeveloper(here.world)
})
const figure = async () => (await developer.usage({ team: here.world.ids.team, client })).replays
const counted = async () => {
  const [one, other] = await Promise.all([here, there].map(({ world }) => world.internal('GET', '/metrics')))
  return [one, other]
    .map((answer) => parseSamples(answer!.text).get('oauth_refresh_replays_total')!)
    .reduce((sum, value) => sum + value)
}

describe('a refresh token that is replayed', () => {
  it('is in the list of apps and in the figures of the team for 30 days', async () => {
    const { browser, first } = await signIn()
    expect(await renew(first)).toBe(200)
    here.world.advance(61)
    expect(await renew(first)).toBe(400)
    const [consent, ...others] = await stored()
    expect(others).toEqual([])
    expect(consent!.replayedAt).toBeInstanceOf(Date)
    expect(consent!.withdrawnAt).toEqual(consent!.replayedAt)
    const { text } = await browser.open(new URL(connected))
    expect(text.replace(/\s+/g, ' ')).toContain(NOTICE)
    expect(await figure()).toEqual([{ client, name: 'Sample', consents: 1 }])

    // Allowed again: the notice stays beside the new access.
    await here.toTokens({ client, scope }, here.world.ids.member, here.world.ids.club, browser)
    expect((await browser.open(new URL(connected))).text).toContain(NOTICE)

    here.world.advance(30 * 86_400)
    const later = here.newBrowser()
    const form = await later.open(new URL(connected))
    expect((await later.submit(form, 'pick', { member: here.world.ids.member })).text).not.toContain(NOTICE)
    expect(await figure()).toEqual([])
    here.world.advance(-30 * 86_400 - 61)
  })

  it('is counted once, however often and on however many nodes it is sent', async () => {
    const { first } = await signIn()
    expect(await renew(first)).toBe(200)
    const before = await counted()
    for (const { world } of [here, there]) world.advance(61)
    const statuses = await Promise.all([here, there, here, there].map((node) => renew(first, node)))
    for (const { world } of [here, there]) world.advance(-61)
    expect(statuses).toEqual([400, 400, 400, 400])
    expect((await stored()).filter(({ replayedAt }) => replayedAt !== null)).toHaveLength(1)
    expect(await figure()).toEqual([{ client, name: 'Sample', consents: 1 }])
    expect((await counted()) - before).toBe(1)
  })

  it('is shown for each of two clubs of one name', async () => {
    const { db, ids } = here.world
    const { name } = await db.organisation.findUniqueOrThrow({ where: { id: ids.club } })
    const namesake = id('club')
    const memberships = { create: { personId: ids.member } }
    await db.organisation.create({ data: { id: namesake, kind: 'club', name, memberships } })
    const at = new Date(here.world.core.now())
    const consent = {
      personId: ids.member,
      clientId: client,
      scopes: [scope],
      createdAt: at,
      withdrawnAt: at,
      replayedAt: at,
    }
    await db.consent.createMany({
      data: [ids.club, namesake].map((organisationId) => ({ ...consent, id: id('consent'), organisationId })),
    })
    const { browser } = await signIn()
    const { text } = await browser.open(new URL(connected))
    await db.organisation.delete({ where: { id: namesake } })
    for (const club of [ids.club, namesake]) expect(text).toContain(`${name} (${club})`)
  })

  it('is shown with the name of the app as text, also a hostile one', async () => {
    const hostile = '<img src=x onerror=alert(1)>'
    client = await register(here.world, { appId: null, name: hostile })
    const { browser, first } = await signIn()
    await renew(first)
    here.world.advance(61)
    await renew(first)
    here.world.advance(-61)
    const { text } = await browser.open(new URL(connected))
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;')
    expect(text).not.toContain(hostile)
  })
})

describe('no replay is recorded', () => {
  it('when both nodes renew with one token at once: they return the same successor', async () => {
    const { browser, first } = await signIn()
    const answers = await Promise.all([here, there, here, there].map((node) => node.refresh(client, first)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect(new Set(answers.map(({ json }) => json.refresh_token)).size).toBe(1)
    expect(await stored()).toEqual([{ withdrawnAt: null, replayedAt: null }])
    expect((await figure()).length).toBe(0)
    expect((await browser.open(new URL(connected))).status).toBe(200)
  })

  it('when another client sends the token, whose own access continues', async () => {
    const stranger = await register(here.world)
    const { first } = await signIn()
    const { json } = await here.refresh(client, first)
    here.world.advance(61)
    expect(await renew(first, here, stranger)).toBe(400)
    expect(await stored()).toEqual([{ withdrawnAt: null, replayedAt: null }])
    expect(await renew(json.refresh_token)).toBe(200)
    here.world.advance(-61)
  })

  it('when the app signs out or the member removes its access', async () => {
    const { first } = await signIn()
    await here.app.post(`${issuer}/revoke`, { client_id: client, token: first })
    expect(await renew(first)).toBe(400)
    expect(await stored()).toEqual([{ withdrawnAt: expect.any(Date), replayedAt: null }])
  })
})

describe('a member at Connected apps', () => {
  const scope = 'svc.me.profile:read svc.me.groups:read'
  let client: string
  beforeAll(() => {
    client = here.client
  })

  const signedIn = async (member = here.world.ids.member): Promise<Browser> => {
    const browser = here.newBrowser()
    await browser.submit(await browser.open(connected), 'pick', { member })
    return browser
  }
  const consents = (node: AuthWorld) =>
    node.world.db.consent.findMany({ where: { clientId: client, withdrawnAt: null } })

  it('withdraws an app: within 5 s every node refuses its tokens for that club and refreshes none', async () => {
    const { world, toTokens } = here
    const phone = await toTokens({ client, scope })
    const laptop = await there.toTokens({ client, scope })
    for (const node of [here, there]) {
      for (const { access_token } of [phone, laptop]) expect(await node.profileStatus(access_token)).toBe(200)
    }
    const other = await register(world)
    const kept = await toTokens({ client: other, scope })

    const browser = await signedIn()
    const list = await browser.open(connected)
    const rows = await world.db.consent.findMany({ where: { clientId: client } })
    const consent = offered(list, 'consent').find((one) => rows.some(({ id }) => id === one))!
    const after = await browser.submit(list, 'withdraw', { consent })
    expect(offered(after, 'consent')).toEqual(offered(list, 'consent').filter((one) => one !== consent))

    // A node caches access for under 5 s.
    for (const node of [here, there]) {
      node.world.advance(5)
      for (const { access_token } of [phone, laptop]) expect(await node.profileStatus(access_token)).toBe(401)
    }
    for (const { refresh_token } of [phone, laptop]) {
      expect(await there.refresh(client, refresh_token)).toMatchObject({
        status: 400,
        json: { error: 'invalid_grant' },
      })
    }
    expect(await consents(here)).toEqual([])
    const grants = { in: rows.map(({ id }) => id) }
    const left = { OR: [{ grantId: grants }, { model: 'Grant', id: grants }] }
    expect(await world.db.oauthRecord.count({ where: left })).toBe(0)
    expect(await there.profileStatus(kept.access_token)).toBe(200)
    expect((await here.refresh(other, kept.refresh_token)).status).toBe(200)
  })

  it('cannot withdraw another member’s consent, nor signed out, nor from another site, which signs nobody out either', async () => {
    const { world, toTokens } = here
    const tokens = await toTokens({ client, scope })
    const consent = (await consents(here))[0]!.id
    const stranger = await world.db.person.create({
      data: { id: `stranger-${client}`, firstName: 'S', lastName: 'T', email: 's@example.org' },
    })
    const strangers = await signedIn(stranger.id)
    expect((await strangers.post(`${connected}/withdraw`, { consent })).status).toBe(404)
    expect((await strangers.post(`${connected}/withdraw`, { consent: 'a\0b' })).status).toBe(404)
    expect((await here.newBrowser().post(`${connected}/withdraw`, { consent })).location!.href).toBe(connected)
    const own = await signedIn()
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      expect((await own.post(`${connected}/withdraw`, { consent }, headers)).status).toBe(403)
      expect((await own.post(`${connected}/sign-out`, {}, headers)).status).toBe(403)
    }
    expect((await own.open(connected)).text).not.toContain('Sign in')
    expect((await consents(here)).map(({ id }) => id)).toEqual([consent])
    expect(await there.profileStatus(tokens.access_token)).toBe(200)
  })
})
