import { beforeEach, describe, expect, it } from 'vitest'
import { organisationsOf } from '../../server/oauth/consents/consents.ts'
import type { Tokens } from './auth-world.ts'
import { authWorld, issuer, register } from './auth-world.ts'
import { createMember } from './members.ts'

const scope = 'svc.me.profile:read'

const auth = authWorld()
let person: string
let club: string
let tokens: Tokens
beforeEach(async () => {
  const { db } = auth.world
  person = await createMember(db, { email: 'mia@example.org' })
  club = (await organisationsOf(db, person, ['club'], Date.now()))[0]!.id
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
    const entries = async () => [...(await browser.open(`${issuer}/connected`)).text.matchAll(/name="consent"/g)].length
    // That of another member of the club is no entry of theirs.
    const other = await createMember(auth.world.db, { email: 'eva@example.org' })
    await auth.world.db.membership.create({ data: { organisationId: club, personId: other } })
    await auth.toTokens({ client: await register(auth.world), scope }, other, club)
    expect(await entries()).toBe(1)
    await sql(`UPDATE "Membership" SET "leftAt" = now() WHERE ${of()}`)
    expect(await entries()).toBe(0)
  })
})
