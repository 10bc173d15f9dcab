import { decodeJwt } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { accessLookup } from '../../routers/kernel/access.ts'
import { listConsents, listOrganisations, withdraw } from '../../server/oauth/consents/consents.ts'
import { mintSubscribed } from '../directory/member-world.ts'
import { asPlatform } from '../support/platform.ts'
import type { Tokens } from './auth-world.ts'
import { authWorld, issuer, register } from './auth-world.ts'
import { offered } from './browser.ts'
import { deviceFlow } from './device-world.ts'
import { createMember } from './members.ts'
import { addCopies } from './more-consents.ts'
import { api, everything } from './openid-world.ts'

const auth = authWorld()

const asked = 'svc.me.profile:read svc.apps.storage:write lms.me.quizzes:write ntf.apps.webhook:read'

it.each<[string, () => string, string]>([
  ['club', () => auth.world.ids.club, 'svc.me.profile:read svc.apps.storage:write'],
  ['academy', () => auth.world.ids.academy, 'lms.me.quizzes:write'],
  ['provider', () => auth.world.ids.provider, 'ntf.apps.webhook:read'],
])(
  'a consent for the %s has the ticked scopes that are for it, and no others, and the sign-in ends',
  async (_, organisation, scope) => {
    const { client, world, toTokens, refresh } = auth
    const tokens = await toTokens({ client, scope: asked }, world.ids.member, organisation())
    expect(tokens.scope).toBe(scope)
    const { gid, ...claims } = decodeJwt(tokens.access_token)
    expect(claims).toMatchObject({ scope, organisation: organisation() })
    const consent = await world.db.consent.findUniqueOrThrow({ where: { id: String(gid) } })
    expect(consent.scopes).toEqual(scope.split(' '))
    const grant = await world.db.oauthRecord.findFirstOrThrow({ where: { model: 'Grant', id: String(gid) } })
    expect(grant.payload).toMatchObject({ resources: { 'urn:member-apps-api': scope } })
    expect(grant.payload).not.toHaveProperty('rejected')
    expect((await refresh(client, tokens.refresh_token)).json.scope).toBe(scope)
  },
)

it('an app that then asks for the scopes of another kind of organisation is asked about that one', async () => {
  const { client, world, toTokens, newBrowser } = auth
  const { member, club, academy } = world.ids
  const browser = newBrowser()
  await toTokens({ client, scope: asked }, member, club, browser)
  const scope = 'lms.me.quizzes:write'
  const page = await browser.open(auth.authorizeUrl({ client, scope }).url)
  expect([page.status, offered(page, 'organisation')]).toEqual([200, [academy]])
  expect((await toTokens({ client, scope }, member, academy, browser)).scope).toBe(scope)
  // The last consent of the browser has some of what is asked.
  const silent = await browser.open(auth.authorizeUrl({ client, scope: asked }).url)
  expect(silent.location?.searchParams.get('code')).toEqual(expect.any(String))
})

const DAY = 86_400
const YEAR_MS = 365 * DAY * 1000
const scope = 'svc.me.profile:read'

it('a consent ends a year after it was given, however often its tokens are renewed', async () => {
  const { client, world, toTokens, refresh } = auth
  let tokens: Tokens = await toTokens({ client, scope })
  const renew = async () => {
    const { status, json } = await refresh(client, tokens.refresh_token)
    if (status === 200) tokens = json
    return json.error ?? status
  }
  const profile = async () => (await world.call('GET', '/me/profile', { token: tokens.access_token })).status
  for (let days = 0; days < 364; days += 28) {
    expect(await renew()).toBe(200)
    world.advance(28 * DAY)
  }
  // The day before its end.
  expect(await renew()).toBe(200)
  world.advance(DAY)
  expect(await renew()).toBe('invalid_grant')
  expect(await profile()).toBe(401)
})

it('a consent is in force until the millisecond of its end, for tokens and at Connected apps', async () => {
  const { client, world, toTokens } = auth
  const member = await createMember(world.db, { email: 'mia@example.org' })
  const { organisationId: organisation } = await world.db.membership.findFirstOrThrow({ where: { personId: member } })
  const { access_token } = await toTokens({ client, scope }, member, organisation)
  const grant = String(decodeJwt(access_token).gid)
  const { createdAt } = await world.db.consent.findUniqueOrThrow({ where: { id: grant } })
  const end = createdAt.getTime() + YEAR_MS
  const principal = { member, organisation, client, grant, scopes: new Set<string>() }
  const inForce = async (now: number) => [
    (await accessLookup(world.db, () => now)(principal)) !== null,
    (await listConsents(world.db, member, now)).length === 1,
  ]
  expect(await inForce(end - 1)).toEqual([true, true])
  expect(await inForce(end)).toEqual([false, false])
})

it('a consent beyond 100 of the member to the client in the club ends the oldest, without an event', async () => {
  const { world, toTokens, refresh, profileStatus } = auth
  const app = await mintSubscribed(world)
  const client = await register(world, { appId: app.app })
  const other = await toTokens({ client, scope: 'lms.me.quizzes:write' }, world.ids.member, world.ids.academy)
  const [oldest, second] = [await toTokens({ client, scope }), await toTokens({ client, scope })]
  const grants = [oldest, second].map(({ access_token }) => String(decodeJwt(access_token).gid))
  await addCopies(world.db, grants[1]!, 98)
  // Both may be of one second.
  await world.db
    .$executeRaw`UPDATE "OauthRecord" SET payload = jsonb_set(payload, '{iat}', '1') WHERE id = ${grants[0]!}`
  const inForce = { clientId: client, organisationId: world.ids.club, withdrawnAt: null }
  expect(await world.db.consent.count({ where: inForce })).toBe(100)

  const newest = await toTokens({ client, scope })
  expect(await world.db.consent.count({ where: inForce })).toBe(100)
  world.advance(5)
  expect(await Promise.all([oldest, second, newest].map((one) => profileStatus(one.access_token)))).toEqual([
    401, 200, 200,
  ])
  expect((await refresh(client, oldest.refresh_token)).json.error).toBe('invalid_grant')
  expect(await world.db.oauthRecord.count({ where: { OR: [{ id: grants[0]! }, { grantId: grants[0]! }] } })).toBe(0)
  for (const { refresh_token } of [second, newest, other])
    expect((await refresh(client, refresh_token)).status).toBe(200)
  expect(await app.heard()).toEqual([])
})

it('a withdrawal ends more consents than a statement of Prisma has parameters for', async () => {
  const { world, toTokens } = auth
  const client = await register(world)
  const { access_token } = await toTokens({ client, scope })
  const grant = String(decodeJwt(access_token).gid)
  await addCopies(world.db, grant, 33_000)
  const { member } = world.ids
  const listed = await listConsents(world.db, member, Date.now())
  expect(listed.map(({ consent }) => consent)).toContain(grant)
  expect(await withdraw(world.db, member, grant, Date.now())).toBe('App')
  expect(await world.db.consent.count({ where: { clientId: client, withdrawnAt: null } })).toBe(0)
  const grants = { model: 'Grant', payload: { path: ['clientId'], equals: client } }
  expect(await world.db.oauthRecord.count({ where: grants })).toBe(0)
})

describe('a person who is erased', () => {
  it('is signed out, and tokens, codes and sessions stay dead when the platform brings the person back', async () => {
    const { world, client } = auth
    const { db } = world
    const person = await createMember(db, { email: 'mia@example.org' })
    const club = (await listOrganisations(db, person, ['club'], Date.now()))[0]!.id
    const browser = auth.newBrowser()
    const tokens = await auth.toTokens({ client, scope }, person, club, browser)
    const { code, verifier } = await auth.toCode({ client, scope, more: { prompt: 'consent' } }, person, club, browser)
    const profile = async () => {
      world.advance(5)
      const { status, body } = await world.call('GET', '/me/profile', { token: tokens.access_token })
      return [status, body.error?.message]
    }
    const signsIn = async () =>
      (await browser.open(auth.authorizeUrl({ client, scope }).url)).text.includes('name="member"')
    expect(await profile()).toEqual([200, undefined])
    expect(await signsIn()).toBe(false)
    const ids = { where: { id: person } }
    const row = await db.person.findUniqueOrThrow({ ...ids, include: { memberships: true } })

    const { removed } = await asPlatform(world).directory.people.erase({ id: person })
    expect(removed).toMatchObject({ consents: 2, sessions: 1 })

    const expectSignedOut = async () => {
      expect(await profile()).toEqual([401, 'This token is not valid.'])
      const renewed = await auth.refresh(client, tokens.refresh_token)
      expect([renewed.status, renewed.json.error]).toEqual([400, 'invalid_grant'])
      const exchanged = await auth.exchange(client, code, verifier)
      expect([exchanged.status, exchanged.json.error]).toEqual([400, 'invalid_grant'])
      expect(await signsIn()).toBe(true)
    }
    await expectSignedOut()
    const { memberships, ...own } = row
    await db.person.create({ data: own })
    await db.membership.createMany({ data: memberships })
    await expectSignedOut()
  })

  it('is in no code that a device has begun, whatever names them there', async () => {
    const { world } = auth
    const client = await register(world, { devices: true, scopes: everything.split(' ') })
    const person = await createMember(world.db, { email: 'Mia.Device@example.org' })
    const club = (await listOrganisations(world.db, person, ['club'], Date.now()))[0]!.id
    const flow = deviceFlow(auth)
    const first = await flow.begin(client, 'openid')
    await flow.allow(first.user_code, 'openid', person, club)
    const { id_token: idToken } = (await flow.poll(client, first.device_code)).json
    const begin = (more: Record<string, string>) => flow.begin(client, `openid ${api}`, more)
    const codes = [
      await begin({ login_hint: 'mia.device@EXAMPLE.org' }),
      await begin({ login_hint: person }),
      await begin({ id_token_hint: idToken }),
      await begin({ login_hint: 'other@example.org' }),
    ]
    const stored = () => world.db.oauthRecord.findMany({ where: { payload: { path: ['clientId'], equals: client } } })
    expect(await stored()).not.toEqual([])
    expect(JSON.stringify(await stored())).not.toContain(idToken)

    await asPlatform(world).directory.people.erase({ id: person })
    expect(JSON.stringify(await stored())).not.toMatch(new RegExp(`mia\\.device|${person}`, 'i'))
    const polled = await Promise.all(codes.map(({ device_code }) => flow.poll(client, device_code)))
    const [pending, gone] = ['authorization_pending', 'invalid_grant']
    expect(polled.map(({ json }) => json.error)).toEqual([gone, gone, pending, pending])
  })
})

describe('when a membership ends', () => {
  /** The database's clock has to be its clock. */
  const auth = authWorld()
  let person: string
  let club: string
  let tokens: Tokens
  beforeEach(async () => {
    const { db } = auth.world
    person = await createMember(db, { email: 'mia@example.org' })
    club = (await listOrganisations(db, person, ['club'], Date.now()))[0]!.id
    tokens = await auth.toTokens({ client: auth.client, scope }, person, club)
  })

  const profile = async () => {
    auth.world.advance(5)
    const { status, body } = await auth.world.call('GET', '/me/profile', { token: tokens.access_token })
    return [status, status === 200 ? undefined : (body.detail ?? body.error.message)]
  }
  const renew = async () => {
    const { status, json } = await auth.refresh(auth.client, tokens.refresh_token)
    return [status, json.error]
  }
  const sql = (text: string) => auth.world.db.$executeRawUnsafe(text)
  const of = () => `"organisationId" = '${club}' AND "personId" = '${person}'`
  const INVALID = [401, 'This token is not valid.']

  describe('a member who leaves and comes back', () => {
    it.each<[string, () => Promise<unknown>, () => Promise<unknown>]>([
      [
        'by an end that is taken back',
        () => sql(`UPDATE "Membership" SET "leftAt" = now() WHERE ${of()}`),
        () => sql(`UPDATE "Membership" SET "leftAt" = NULL WHERE ${of()}`),
      ],
      [
        'by an end that is moved to the future',
        () => sql(`UPDATE "Membership" SET "leftAt" = now() - interval '1 day' WHERE ${of()}`),
        () => sql(`UPDATE "Membership" SET "leftAt" = now() + interval '1 day' WHERE ${of()}`),
      ],
      [
        'by Prisma',
        () => auth.world.db.membership.updateMany({ where: { personId: person }, data: { leftAt: new Date() } }),
        () => auth.world.db.membership.updateMany({ where: { personId: person }, data: { leftAt: null } }),
      ],
      [
        'by an import',
        () => sql(`UPDATE "Membership" SET "leftAt" = now() WHERE ${of()}`),
        () =>
          sql(`INSERT INTO "Membership" ("organisationId", "personId") VALUES ('${club}', '${person}')
          ON CONFLICT ("organisationId", "personId") DO UPDATE SET "leftAt" = NULL`),
      ],
      [
        'by removal of the row',
        () => sql(`DELETE FROM "Membership" WHERE ${of()}`),
        () => sql(`INSERT INTO "Membership" ("organisationId", "personId") VALUES ('${club}', '${person}')`),
      ],
      [
        'by a row that is given to someone else, and back',
        async () => {
          const other = await createMember(auth.world.db, { email: 'other@example.org', member: false })
          await sql(`UPDATE "Membership" SET "personId" = '${other}' WHERE ${of()}`)
        },
        () => sql(`UPDATE "Membership" SET "personId" = '${person}' WHERE "organisationId" = '${club}'`),
      ],
    ])('%s finds no consent in force', async (_, leave, come) => {
      expect(await profile()).toEqual([200, undefined])
      await leave()
      expect(await profile()).toEqual([404, 'This member does not exist in this club.'])
      expect(await renew()).toEqual([400, 'invalid_grant'])
      await come()
      expect(await profile()).toEqual(INVALID)
      expect(await renew()).toEqual([400, 'invalid_grant'])
      const consents = await auth.world.db.consent.findMany({ where: { personId: person } })
      expect(consents).toMatchObject([{ withdrawnAt: expect.any(Date) }])

      tokens = await auth.toTokens({ client: auth.client, scope }, person, club)
      expect(await profile()).toEqual([200, undefined])
      expect(await renew()).toEqual([200, undefined])
    })

    it('is asked again, also in a browser that is signed in', async () => {
      const browser = auth.newBrowser()
      tokens = await auth.toTokens({ client: auth.client, scope }, person, club, browser)
      await sql(`UPDATE "Membership" SET "leftAt" = now() WHERE ${of()}`)
      await sql(`UPDATE "Membership" SET "leftAt" = NULL WHERE ${of()}`)
      const page = await browser.open(auth.authorizeUrl({ client: auth.client, scope }).url)
      expect([page.status, page.location]).toEqual([200, undefined])
      expect(page.text).toContain('value="allow"')
    })
  })

  describe('a membership', () => {
    it('whose end is announced, moved or taken back before it comes keeps the consents', async () => {
      await sql(`UPDATE "Membership" SET "leftAt" = now() + interval '1 day' WHERE ${of()}`)
      await sql(`UPDATE "Membership" SET "leftAt" = now() + interval '2 days' WHERE ${of()}`)
      await sql(`UPDATE "Membership" SET "leftAt" = NULL WHERE ${of()}`)
      await sql(`INSERT INTO "Membership" ("organisationId", "personId") VALUES ('${club}', '${person}')
      ON CONFLICT ("organisationId", "personId") DO UPDATE SET "leftAt" = NULL`)
      expect(await profile()).toEqual([200, undefined])
      expect(await renew()).toEqual([200, undefined])
    })

    it('that comes back leaves the consents for other organisations, and those of other members', async () => {
      const other = await createMember(auth.world.db, { email: 'ben@example.org' })
      await auth.world.db.membership.create({ data: { organisationId: club, personId: other } })
      const theirs = await auth.toTokens({ client: auth.client, scope }, other, club)
      const { member, club: elsewhere } = auth.world.ids
      const others = await auth.toTokens({ client: auth.client, scope }, member, elsewhere)
      await sql(`UPDATE "Membership" SET "leftAt" = now() WHERE ${of()}`)
      await sql(`UPDATE "Membership" SET "leftAt" = NULL WHERE ${of()}`)
      for (const { refresh_token } of [theirs, others]) {
        expect((await auth.refresh(auth.client, refresh_token)).status).toBe(200)
      }
    })

    it('that has ended has no entry at Connected apps', async () => {
      const browser = auth.newBrowser()
      await auth.toTokens({ client: auth.client, scope }, person, club, browser)
      const entries = async () =>
        [...(await browser.open(`${issuer}/connected`)).text.matchAll(/name="consent"/g)].length
      // That of another member of the club is no entry of theirs.
      const other = await createMember(auth.world.db, { email: 'eva@example.org' })
      await auth.world.db.membership.create({ data: { organisationId: club, personId: other } })
      await auth.toTokens({ client: await register(auth.world), scope }, other, club)
      expect(await entries()).toBe(1)
      await sql(`UPDATE "Membership" SET "leftAt" = now() WHERE ${of()}`)
      expect(await entries()).toBe(0)
    })
  })
})
