import { decodeJwt } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { register } from '../../server/admin/clients.ts'
import { authWorld } from '../oauth/auth-world.ts'
import type { Page } from '../oauth/browser.ts'
import { addCopies } from '../oauth/more-consents.ts'
import { userinfo } from '../oauth/openid-world.ts'
import { id } from '../support/tenant.ts'
import { addPeople, eventsRead, profileRead, redirect } from './team-world.ts'

const auth = authWorld()
let team: Awaited<ReturnType<typeof addPeople>>
let client: string
let alex: { person: string; club: string }

beforeAll(async () => {
  team = await addPeople(auth.world)
  client = (await team.sandbox({ scopes: [profileRead, eventsRead, 'lms.me.quizzes:write'] })).id
  const { testMembers } = await team.as(team.owner).teams.get({ team: auth.world.ids.team })
  const club = await auth.world.db.organisation.findFirstOrThrow({
    where: { testTeamId: auth.world.ids.team, kind: 'club' },
  })
  alex = { person: testMembers[0]!.id, club: club.id }
})

const asked = (more: object = {}) => ({ client, scope: profileRead, redirectUri: redirect, ...more })
const listConsents = (id = client) =>
  auth.world.db.consent.findMany({ where: { clientId: id }, orderBy: { id: 'asc' } })
const choicesOn = ({ text }: Page) =>
  [...text.matchAll(/name="organisation" value="([^"]*)"/g)].map(([, value]) => value)
const asAlex = () => `${alex.club} ${alex.person}`
const profile = async (token: string) => auth.world.call('GET', '/me/profile', { token })

describe('a sandbox client', () => {
  it('signs in a person of the team as a test member, for calls and for renewals', async () => {
    const tokens = await auth.toTokens(asked(), team.colleague, asAlex())
    expect(decodeJwt(tokens.access_token)).toMatchObject({ sub: alex.person, organisation: alex.club })
    const { status, body } = await profile(tokens.access_token)
    expect([status, body.id, body.firstName]).toEqual([200, alex.person, 'Alex'])
    const renewed = await auth.refresh(client, tokens.refresh_token)
    expect([renewed.status, decodeJwt(renewed.json.access_token).sub]).toEqual([200, alex.person])
  })

  it('names the test member in ID tokens and at userinfo', async () => {
    const openid = (await team.sandbox({ scopes: ['openid', 'profile'], idTokenAlgorithm: 'ES256' })).id
    const tokens = await auth.toTokens(asked({ client: openid, scope: 'openid profile' }), team.colleague, asAlex())
    const renewed = await auth.refresh(openid, tokens.refresh_token)
    for (const { id_token, access_token } of [tokens, renewed.json]) {
      expect([decodeJwt(id_token).sub, decodeJwt(access_token).sub]).toEqual([alex.person, alex.person])
      const answer = await userinfo(auth, access_token)
      expect(answer.json).toMatchObject({ sub: alex.person, given_name: 'Alex' })
    }
  })

  it('offers test members alone, also to a person who is in a club, and says that nobody has reviewed it', async () => {
    const { db, ids } = auth.world
    await db.teamMember.create({ data: { teamId: ids.team, personId: ids.member, role: 'developer' } })
    const browser = auth.newBrowser()
    const page = await auth.toConsent(browser, auth.authorizeUrl(asked()).url, ids.member)
    expect(choicesOn(page)).toHaveLength(3)
    expect(choicesOn(page)).toContain(asAlex())
    expect(page.text).toContain('Test client, not reviewed.')
    const before = await listConsents()
    const fields = { organisation: ids.club, scope: [profileRead], decision: 'allow' }
    expect((await browser.submit(page, 'consent', fields)).status).toBe(400)
    expect(await listConsents()).toEqual(before)
    await db.teamMember.deleteMany({ where: { personId: ids.member } })
    const reviewed = await auth.toConsent(
      auth.newBrowser(),
      auth.authorizeUrl({ client: auth.client, scope: profileRead }).url,
      ids.member,
    )
    expect(reviewed.text).not.toContain('Test client')
  })

  it('renews no consent that a member gave it in a club of theirs, as older releases let them', async () => {
    const { db, ids } = auth.world
    await db.teamMember.create({ data: { teamId: ids.team, personId: ids.member, role: 'developer' } })
    const tokens = await auth.toTokens(asked(), ids.member, asAlex())
    const { gid } = decodeJwt(tokens.access_token) as { gid: string }
    await db.consent.update({ where: { id: gid }, data: { personId: ids.member, organisationId: ids.club } })
    expect((await auth.refresh(client, tokens.refresh_token)).status).toBe(400)
    await db.teamMember.deleteMany({ where: { personId: ids.member } })
  })

  it('that an operator registered signs in any person, as a test member of its team only', async () => {
    const { db, ids } = auth.world
    const registration = { id: id('operators'), name: 'Operators', type: 'web', environment: 'sandbox' } as const
    const team = { id: id('new-team'), name: 'New team', level: 'hobby' } as const
    const rest = { redirectUris: [redirect], scopes: [profileRead], app: null }
    await register(db, { ...registration, team, ...rest }, { replace: false, development: false })
    const page = await auth.toConsent(
      auth.newBrowser(),
      auth.authorizeUrl(asked({ client: registration.id })).url,
      ids.member,
    )
    expect(page.text).toContain('Test club of New team')
    expect(choicesOn(page)).toHaveLength(3)
    expect(choicesOn(page)).not.toContain(ids.club)
  })

  it('asks at each sign-in who one is, and not without a page', async () => {
    const { browser } = await auth.toCode(asked(), team.colleague, asAlex())
    const again = await browser.open(auth.authorizeUrl(asked()).url)
    expect(choicesOn(again)).toContain(asAlex())
    const silent = await browser.open(auth.authorizeUrl(asked({ more: { prompt: 'none' } })).url)
    expect(silent.location!.searchParams.get('code')).toBeTruthy()
  })

  it('offers test members of the kinds that its scopes are for', async () => {
    const page = await auth.toConsent(
      auth.newBrowser(),
      auth.authorizeUrl(asked({ scope: `${profileRead} lms.me.quizzes:write` })).url,
      team.colleague,
    )
    expect(choicesOn(page)).toHaveLength(6)
  })

  it('does not sign in a person outside the team', async () => {
    const before = await listConsents()
    const browser = auth.newBrowser()
    const page = await auth.toConsent(browser, auth.authorizeUrl(asked()).url, auth.world.ids.member)
    expect([page.status, page.text]).toEqual([403, expect.stringContaining('This app is in development')])
    expect(page.text).not.toMatch(/checkbox|value="allow"/)
    const back = await browser.submit(page, 'consent', { decision: 'refuse' })
    expect(back.location!.searchParams.get('error')).toBe('access_denied')
    expect(await listConsents()).toEqual(before)
  })

  it('does not sign in a person who leaves the team while the page is open', async () => {
    const { db, ids } = auth.world
    const of = { teamId: ids.team, personId: ids.member }
    await db.teamMember.create({ data: { ...of, role: 'developer' } })
    const browser = auth.newBrowser()
    const page = await auth.toConsent(browser, auth.authorizeUrl(asked()).url, ids.member)
    await team.as(team.owner).people.remove({ team: ids.team, person: ids.member })
    const before = await listConsents()
    const fields = { organisation: asAlex(), scope: [profileRead], decision: 'allow' }
    const after = await browser.submit(page, 'consent', fields)
    expect([after.status, after.text]).toEqual([403, expect.stringContaining('This app is in development')])
    expect(await listConsents()).toEqual(before)
  })

  it('does not sign in as somebody who is no test member of its team', async () => {
    const browser = auth.newBrowser()
    const page = await auth.toConsent(browser, auth.authorizeUrl(asked()).url, team.colleague)
    const before = await listConsents()
    for (const organisation of [`${alex.club} ${team.owner}`, `${auth.world.ids.club} ${auth.world.ids.member}`]) {
      const after = await browser.submit(page, 'consent', { organisation, scope: [profileRead], decision: 'allow' })
      expect(after.status).toBe(400)
    }
    expect(await listConsents()).toEqual(before)
  })

  it('ends what a person allowed, as whom ever, when they leave the team', async () => {
    const { db, ids } = auth.world
    await db.teamMember.create({ data: { teamId: ids.team, personId: ids.member, role: 'developer' } })
    const theirs = await auth.toTokens(asked(), ids.member, asAlex())
    const again = await auth.toTokens(asked(), ids.member, asAlex())
    const colleagues = await auth.toTokens(asked(), team.colleague, asAlex())
    await team.as(ids.member).people.remove({ team: ids.team, person: ids.member })
    auth.world.advance(5)
    for (const { access_token, refresh_token } of [theirs, again]) {
      expect((await profile(access_token)).status).toBe(401)
      expect((await auth.refresh(client, refresh_token)).status).toBe(400)
    }
    expect((await profile(colleagues.access_token)).status).toBe(200)
  })

  it('ends more than a statement of Prisma has parameters for, when they leave the team', async () => {
    const { db, ids } = auth.world
    const own = (await team.sandbox({ scopes: [profileRead] })).id
    await db.teamMember.create({ data: { teamId: ids.team, personId: ids.member, role: 'developer' } })
    const { access_token } = await auth.toTokens(asked({ client: own }), ids.member, asAlex())
    await addCopies(db, String(decodeJwt(access_token).gid), 33_000)
    await team.as(ids.member).people.remove({ team: ids.team, person: ids.member })
    expect(await db.consent.count({ where: { clientId: own, withdrawnAt: null } })).toBe(0)
    const grants = { model: 'Grant', payload: { path: ['clientId'], equals: own } }
    expect(await db.oauthRecord.count({ where: grants })).toBe(0)
  })
})

describe('test members', () => {
  it('are nobody who could sign in', async () => {
    const page = await auth.newBrowser().open(auth.authorizeUrl(asked()).url)
    expect(page.text).toContain(team.colleague)
    expect(page.text).not.toContain(alex.person)
    const browser = auth.newBrowser()
    const form = await browser.open(auth.authorizeUrl(asked()).url)
    const after = await browser.submit(form, 'pick', { member: alex.person })
    expect(after.status).toBe(400)
  })

  it('are for sandbox clients alone', async () => {
    const page = await auth.toConsent(
      auth.newBrowser(),
      auth.authorizeUrl({ client: auth.client, scope: profileRead }).url,
      team.colleague,
    )
    expect(choicesOn(page)).toEqual([])
  })
})

describe('a client that waits for approval', () => {
  it('signs in nobody, and leads nobody to its redirect address', async () => {
    const purpose = { [profileRead]: 'Greeting', [eventsRead]: 'Calendar', 'lms.me.quizzes:write': 'Quiz' }
    const { id } = await team.as(team.owner).clients.requestProduction({ client, purpose })
    for (const more of [{}, { prompt: 'none' }]) {
      const page = await auth.newBrowser().open(auth.authorizeUrl({ ...asked({ more }), client: id }).url)
      expect([page.status, page.location]).toEqual([403, undefined])
      expect(page.text).toContain('This app has not been approved yet')
    }
    expect(await listConsents(id)).toEqual([])
  })
})
