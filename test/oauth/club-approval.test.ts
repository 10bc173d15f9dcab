import { beforeEach, describe, expect, it } from 'vitest'
import { holdApproval } from '../../routers/approvals/approvals.ts'
import { mintMember } from '../support/app-server.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { asPlatform, mintApp } from '../support/platform.ts'
import { reportingDue } from '../support/reported-due.ts'
import { startedAround } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { authWorld, register, startAuthWorld } from './auth-world.ts'
import type { Page } from './browser.ts'
import { offered } from './browser.ts'

const scope = 'svc.me.profile:read'
/** With CLUB_APPROVAL, and without it. */
const here = authWorld({ clubApproval: true })
const without = startedAround(() => startAuthWorld({ like: here.world }))

let app: string
let client: string
let member: string
beforeEach(async () => {
  app = await mintApp(here.world)
  client = await register(here.world, { appId: app })
  member = await mintMember(here.world)
})

const set = (state: 'approved' | 'refused' | 'withdrawn', club = here.world.ids.club) =>
  asPlatform(here.world).directory.approvals.set({ club, app, state, ...(state === 'refused' && { reason: 'No.' }) })
const states = async () => {
  const rows = await here.world.db.clubApproval.findMany({ where: { appId: app } })
  return Object.fromEntries(rows.map(({ organisationId, state }) => [organisationId, state]))
}
const consents = () => here.world.db.consent.findMany({ where: { client: { appId: app }, withdrawnAt: null } })
const statusOf = async (token: string) => (await here.world.call('GET', '/me/profile', { token })).status

async function joinClub(name = 'Second') {
  const club = id('club')
  const memberships = { create: { personId: member } }
  await here.world.db.organisation.create({ data: { id: club, kind: 'club', name, memberships } })
  return club
}

async function atConsent(asked = scope, of = client) {
  const browser = here.newBrowser()
  const page = await here.toConsent(browser, here.authorizeUrl({ client: of, scope: asked }).url, member)
  const submit = (fields: Record<string, string>) => browser.submit(page, 'consent', fields)
  return { page, submit, allow: (organisation: string) => submit({ organisation, scope, decision: 'allow' }) }
}
const mayAllow = (page: Page) => offered(page, 'decision').includes('allow')

describe('a member of a club that has not approved an app', () => {
  it('sees why, asks the club once, and the app gets access_denied', async () => {
    const { page, submit } = await atConsent()
    expect([page.status, mayAllow(page)]).toEqual([200, false])
    expect(page.text).toContain('needs your club’s approval')
    expect(offered(page, 'ask')).toEqual([here.world.ids.club])
    expect(await states()).toEqual({})
    const asked = await submit({ ask: here.world.ids.club })
    expect([asked.status, offered(asked, 'ask')]).toEqual([200, []])
    expect(asked.text).toContain('has been asked')
    expect((await submit({ ask: here.world.ids.club })).status).toBe(200)
    const [row, ...more] = await here.world.db.clubApproval.findMany({ where: { appId: app } })
    expect(more).toEqual([])
    expect(row).toMatchObject({ state: 'requested', requestedAt: expect.any(Date), decidedAt: null, decidedBy: null })
    const back = await submit({ decision: 'refuse' })
    expect(Object.fromEntries(back.location!.searchParams)).toMatchObject({
      error: 'access_denied',
      error_description: 'no club of the member has approved this app',
    })
    expect(await consents()).toEqual([])
  })

  it.each(['refused', 'withdrawn'] as const)('cannot ask again once it is %s', async (state) => {
    if (state === 'withdrawn') await set('approved')
    await set(state)
    const { page, submit } = await atConsent()
    expect(page.text).toContain('does not allow this app')
    expect([mayAllow(page), offered(page, 'ask')]).toEqual([false, []])
    await submit({ ask: here.world.ids.club })
    expect(await states()).toEqual({ [here.world.ids.club]: state })
  })

  it('cannot allow it by sending the form', async () => {
    for (const state of [undefined, 'refused'] as const) {
      if (state) await set(state)
      const { allow } = await atConsent()
      const refused = await allow(here.world.ids.club)
      expect([refused.status, mayAllow(refused)]).toEqual([400, false])
      expect(await consents()).toEqual([])
    }
  })

  it('cannot ask a club that they are not in, an academy, nor from another site', async () => {
    const other = id('club')
    await here.world.db.organisation.create({ data: { id: other, kind: 'club', name: 'Other' } })
    const { page, submit } = await atConsent()
    for (const club of [other, here.world.ids.academy, 'a\0b', ''])
      expect((await submit({ ask: club })).status).toBe(200)
    const url = new URL(/action="([^"]+\/consent)"/.exec(page.text)![1]!, page.url)
    const forged = await here.newBrowser().post(url, { ask: here.world.ids.club }, { origin: 'https://evil.example' })
    expect(forged.status).toBe(403)
    expect(await states()).toEqual({})
  })

  it('asks at most ten times a minute', async () => {
    const clubs = await Promise.all(Array.from({ length: 11 }, (_, n) => joinClub(`Club ${n}`)))
    const { submit } = await atConsent()
    const answers = []
    for (const club of clubs) answers.push((await submit({ ask: club })).status)
    expect(answers).toEqual([...Array(10).fill(200), 429])
    expect(Object.keys(await states())).toHaveLength(10)
  })
})

describe('a member of several clubs', () => {
  it('is offered those that have approved it, and sees the others as not available', async () => {
    const second = await joinClub()
    await set('approved', second)
    const { page, allow } = await atConsent()
    expect(mayAllow(page)).toBe(true)
    expect([offered(page, 'organisation'), offered(page, 'ask')]).toEqual([[second], [here.world.ids.club]])
    expect((await allow(here.world.ids.club)).status).toBe(400)
    expect(await consents()).toEqual([])
    expect((await allow(second)).location?.searchParams.get('code')).toBeTruthy()
    expect((await consents()).map(({ organisationId }) => organisationId)).toEqual([second])
  })
})

describe('an approval', () => {
  it('lets members allow the app; its withdrawal ends their access within 5 s', async () => {
    await set('approved')
    const { club } = here.world.ids
    const tokens = await here.toTokens({ client, scope }, member, club)
    expect(await statusOf(tokens.access_token)).toBe(200)
    expect(await reportingDue(here.world.core, () => set('withdrawn'))).toEqual({ ended: 1 })
    here.world.advance(5)
    expect(await statusOf(tokens.access_token)).toBe(401)
    expect(await here.refresh(client, tokens.refresh_token)).toMatchObject({ json: { error: 'invalid_grant' } })
    expect(mayAllow((await atConsent()).page)).toBe(false)
  })

  it('that is being withdrawn lets no consent through', async () => {
    await set('approved')
    const { allow } = await atConsent()
    const refused = await meanwhile(
      here.world.db,
      (tx) => tx.clubApproval.updateMany({ where: { appId: app }, data: { state: 'withdrawn' } }),
      () => allow(here.world.ids.club),
    )
    expect([refused.status, mayAllow(refused)]).toEqual([400, false])
    expect(await consents()).toEqual([])
    expect(await here.world.db.consent.count({ where: { clientId: client } })).toBe(0)
    const grants = await here.world.db.oauthRecord.findMany({ where: { model: 'Grant' } })
    expect(grants.filter(({ payload }) => (payload as { clientId: string }).clientId === client)).toEqual([])
  })

  it('is withdrawn after a consent that is being given, and ends it', async () => {
    await set('approved')
    const { club } = here.world.ids
    const ended = await meanwhile(
      here.world.db,
      async (tx) => {
        expect(await holdApproval(tx, { club, app })).toBe(true)
        const of = { clientId: client, personId: member, organisationId: club }
        await tx.consent.create({ data: { id: id('consent'), ...of, scopes: [scope] } })
      },
      () => set('withdrawn'),
    )
    expect([ended, await consents()]).toEqual([{ ended: 1 }, []])
  })
})

describe('no club has to approve', () => {
  it('an app for members of an academy', async () => {
    await here.world.db.membership.create({ data: { organisationId: here.world.ids.academy, personId: member } })
    const { page } = await atConsent('lms.me.quizzes:write')
    expect([mayAllow(page), offered(page, 'ask')]).toEqual([true, []])
  })

  it('a sandbox client, whose club is a test club', async () => {
    const sandbox = await register(here.world, { appId: app, environment: 'sandbox' })
    const { db, ids } = here.world
    const memberships = { create: { personId: await mintMember(here.world) } }
    await db.organisation.create({
      data: { id: id('test'), kind: 'club', name: 'Test', testTeamId: ids.team, memberships },
    })
    expect(mayAllow((await atConsent(scope, sandbox)).page)).toBe(true)
  })

  it('an app of a service without CLUB_APPROVAL, where nobody can ask either', async () => {
    const browser = without.newBrowser()
    const page = await without.toConsent(browser, without.authorizeUrl({ client, scope }).url, member)
    expect([mayAllow(page), offered(page, 'ask')]).toEqual([true, []])
    expect((await browser.submit(page, 'consent', { ask: here.world.ids.club })).status).toBe(400)
    expect(await states()).toEqual({})
    await set('refused')
    const tokens = await without.toTokens({ client, scope }, member, here.world.ids.club)
    expect(await statusOf(tokens.access_token)).toBe(200)
  })
})

it('a client without an app is for no member of a club', async () => {
  const alone = await register(here.world, { appId: null })
  const { page } = await atConsent(scope, alone)
  expect([mayAllow(page), offered(page, 'ask')]).toEqual([false, []])
})

it('a consent from before CLUB_APPROVAL stays in force until the club refuses the app', async () => {
  const tokens = await without.toTokens({ client, scope }, member, here.world.ids.club)
  expect(await statusOf(tokens.access_token)).toBe(200)
  const renewed = await here.refresh(client, tokens.refresh_token)
  expect(renewed.status).toBe(200)
  expect(await set('refused')).toEqual({ ended: 1 })
  here.world.advance(5)
  expect(await statusOf(renewed.json.access_token)).toBe(401)
})
