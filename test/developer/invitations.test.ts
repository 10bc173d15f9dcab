import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { offerInvitations } from '../../routers/developer/teams/invited.ts'
import { erase } from '../../routers/personal-data/erase.ts'
import { findPersons } from '../../server/browser/login/upstream-identity.ts'
import type { AuthWorld } from '../oauth/auth-world.ts'
import { startAuthWorld } from '../oauth/auth-world.ts'
import { startCodeWorld } from '../oauth/code-world.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { readRefusal } from '../support/platform.ts'
import { id } from '../support/tenant.ts'
import { addPeople } from './team-world.ts'

let auth: AuthWorld
let team: Awaited<ReturnType<typeof addPeople>>
let mails: Awaited<ReturnType<typeof startCodeWorld>>
beforeAll(async () => {
  auth = await startAuthWorld()
  team = await addPeople(auth.world)
  mails = await startCodeWorld()
})
afterAll(() => Promise.all([auth.world.close(), mails.close()]))

const DAY_MS = 86_400_000
const now = () => auth.world.now() * 1000
const anyEmail = () => `${id('new')}@example.org`
const invite = (email: string, role: 'owner' | 'developer' = 'developer') =>
  team.as(team.owner).people.invite({ team: auth.world.ids.team, email, role })
const readRoles = async (person: string) =>
  (await auth.world.db.teamMember.findMany({ where: { personId: person } })).map(({ teamId, role }) => [teamId, role])
const accounts = (email: string, subject = id('subject')) => ({ issuer: 'https://login.example', subject, email })

/** The invitations that a person can accept. */
const receivedBy = async (person: string) => (await team.as(person).invitations.list()).items
const listMemberships = (person: string) => auth.world.db.teamMember.findMany({ where: { personId: person } })

describe('an invitation', () => {
  it('shows team, inviter and role to a new person who signs in with its address, and adds nobody to the team', async () => {
    const { ids, db } = auth.world
    const email = anyEmail()
    const { id: invitation, expiresAt } = await invite(` ${email.toUpperCase()} `, 'owner')
    const [person, ...others] = await findPersons(db, accounts(email), now())
    expect([person!.name, others]).toEqual([email.split('@')[0], []])
    const { name } = await db.team.findUniqueOrThrow({ where: { id: ids.team } })
    expect(await receivedBy(person!.id)).toEqual([
      { id: invitation, team: { id: ids.team, name }, role: 'owner', invitedBy: 'Dev owner', expiresAt },
    ])
    expect(await listMemberships(person!.id)).toEqual([])
    // Signing in again, as the same person, is possible before it is answered.
    expect(await findPersons(db, accounts(email), now())).toEqual([person])
    const seen = await team.as(team.owner).teams.get({ team: ids.team })
    expect(JSON.stringify(seen)).not.toContain(person!.id)
    expect(seen.invitations.filter((one) => one.id === invitation)).toMatchObject([{ email, role: 'owner' }])
    expect(await readRefusal(team.as(person!.id).teams.get({ team: ids.team }))).toMatchObject({ status: 404 })
  })

  it('makes a person of the team of who accepts it, once', async () => {
    const { ids, db } = auth.world
    const email = anyEmail()
    const { id: invitation } = await invite(email, 'owner')
    const [person] = await findPersons(db, accounts(email), now())
    const accept = () => team.as(person!.id).invitations.accept({ invitation })
    expect(await accept()).toMatchObject({ team: { id: ids.team } })
    expect(await readRoles(person!.id)).toEqual([[ids.team, 'owner']])
    const { items } = await team.as(person!.id).audit.list({ team: ids.team, limit: 1 })
    expect(items[0]).toMatchObject({
      action: 'person.join',
      target: person!.id,
      by: { id: person!.id, name: person!.name },
      after: { role: 'owner', invitation },
    })
    expect(await receivedBy(person!.id)).toEqual([])
    expect(await readRefusal(accept())).toMatchObject({ status: 404, message: 'This invitation does not exist.' })
    await team.as(team.owner).people.remove({ team: ids.team, person: person!.id })
    expect(await readRefusal(accept())).toMatchObject({ status: 404 })
  })

  it('ends when it is declined, and the team does not learn by whom', async () => {
    const { ids, db } = auth.world
    const email = anyEmail()
    const { id: invitation } = await invite(email)
    const [person] = await findPersons(db, accounts(email), now())
    expect(await team.as(person!.id).invitations.decline({ invitation })).toMatchObject({ team: { id: ids.team } })
    expect(await db.teamInvitation.findUnique({ where: { id: invitation } })).toBeNull()
    expect(await listMemberships(person!.id)).toEqual([])
    const { items } = await team.as(team.owner).audit.list({ team: ids.team, limit: 1 })
    expect(items).toMatchObject([
      { action: 'invitation.decline', target: invitation, by: null, before: { role: 'developer' } },
    ])
    expect(JSON.stringify(items)).not.toContain(person!.id)
    for (const answer of ['accept', 'decline'] as const) {
      expect(await readRefusal(team.as(person!.id).invitations[answer]({ invitation }))).toMatchObject({ status: 404 })
    }
  })

  it('cannot be accepted or declined by others, and nothing changes', async () => {
    const { db } = auth.world
    const email = anyEmail()
    const { id: invitation } = await invite(email)
    await findPersons(db, accounts(email), now())
    const before = await team.stored()
    for (const other of [team.owner, team.colleague, team.stranger, auth.world.ids.member]) {
      for (const answer of ['accept', 'decline'] as const) {
        expect(await readRefusal(team.as(other).invitations[answer]({ invitation }))).toMatchObject({ status: 404 })
      }
    }
    expect(await team.stored()).toEqual(before)
  })

  it('cannot be accepted once it is withdrawn, meanwhile or before, nor after 7 days', async () => {
    const { ids, db } = auth.world
    const email = anyEmail()
    const { id: invitation } = await invite(email)
    const [person] = await findPersons(db, accounts(email), now())
    const accept = () => team.as(person!.id).invitations.accept({ invitation })
    await db.teamInvitation.update({ where: { id: invitation }, data: { expiresAt: new Date(now() - 1) } })
    expect(await receivedBy(person!.id)).toEqual([])
    expect(await readRefusal(accept())).toMatchObject({ status: 404 })
    await db.teamInvitation.update({ where: { id: invitation }, data: { expiresAt: new Date(now() + DAY_MS) } })
    const refused = await meanwhile(
      db,
      async (tx) => {
        await tx.$queryRaw`SELECT FROM "Team" WHERE id = ${ids.team} FOR NO KEY UPDATE`
        await tx.teamInvitation.delete({ where: { id: invitation } })
      },
      () => readRefusal(accept()),
    )
    expect(refused).toMatchObject({ status: 404 })
    expect(await listMemberships(person!.id)).toEqual([])
  })

  it('makes one person of two sign-ins at the same time', async () => {
    const email = anyEmail()
    await invite(email)
    const both = await Promise.all([1, 2].map(() => findPersons(auth.world.db, accounts(email), now())))
    expect(new Set(both.flat().map((person) => person.id)).size).toBe(1)
    expect(await auth.world.db.person.count({ where: { email } })).toBe(1)
  })

  it('makes nobody of a team at a sign-in to an app: it waits in the portal for a member who is known already', async () => {
    const { db, ids } = auth.world
    const email = anyEmail()
    await db.person.update({ where: { id: ids.member }, data: { email } })
    const { id: invitation } = await invite(email)
    await auth.toConsent(
      auth.newBrowser(),
      auth.authorizeUrl({ client: auth.client, scope: 'svc.me.profile:read' }).url,
      ids.member,
    )
    expect(await readRoles(ids.member)).toEqual([])
    expect(await receivedBy(ids.member)).toMatchObject([{ id: invitation }])
    await team.as(ids.member).invitations.accept({ invitation })
    expect(await readRoles(ids.member)).toEqual([[ids.team, 'developer']])
  })

  it('sends its address a code, which signs in', async () => {
    const email = anyEmail()
    await invite(email)
    const node = mails.startNode()
    const interaction = id('interaction')
    expect(await node.send(interaction, email)).toBe('sent')
    const [code] = await mails.mailServer.codesTo(email, 1)
    const outcome = await node.codes.check(interaction, code!)
    expect(outcome).toMatchObject({ email, persons: [{ name: email.split('@')[0] }] })
  })

  it('gives nothing to another address, nor after 7 days or its withdrawal', async () => {
    const email = anyEmail()
    const before = auth.world.now()
    const { id: invitation, expiresAt } = await invite(email)
    const madeAt = expiresAt - (7 * DAY_MS) / 1000
    expect(madeAt).toBeGreaterThanOrEqual(before)
    expect(madeAt).toBeLessThanOrEqual(auth.world.now())
    expect(await findPersons(auth.world.db, accounts(anyEmail()), now())).toEqual([])
    expect(await findPersons(auth.world.db, { ...accounts(email), email: null as never }, now())).toEqual([])
    expect(await findPersons(auth.world.db, accounts(email), now() + 7 * DAY_MS + 1000)).toEqual([])
    await team.as(team.owner).people.withdraw({ team: auth.world.ids.team, invitation })
    expect(await findPersons(auth.world.db, accounts(email), now())).toEqual([])
    expect(await auth.world.db.person.count({ where: { email } })).toBe(0)
  })

  it('replaces an earlier one, and leaves the role of a person of the team alone', async () => {
    const { db, ids } = auth.world
    const email = anyEmail()
    const { id: former } = await invite(email, 'owner')
    const { id: invitation } = await invite(email, 'developer')
    const entries = await db.auditEntry.findMany({
      where: { target: { in: [former, invitation] } },
      orderBy: { id: 'asc' },
    })
    expect(entries.map(({ action, target, before, after }) => [action, target, before ?? after])).toEqual([
      ['invitation.create', former, { role: 'owner' }],
      ['invitation.remove', former, { role: 'owner' }],
      ['invitation.create', invitation, { role: 'developer' }],
    ])
    expect(await db.teamInvitation.findMany({ where: { email } })).toMatchObject([{ role: 'developer' }])
    await offerInvitations(db, { email, now: new Date(now()) }, team.owner)
    await team.as(team.owner).invitations.accept({ invitation })
    expect(await readRoles(team.owner)).toEqual([[ids.team, 'owner']])
  })

  it('ends with the erasure of the person who sent it', async () => {
    const { db, ids } = auth.world
    const [email, inviter] = [anyEmail(), id('inviter')]
    await db.person.create({ data: { id: inviter, firstName: 'Dev', lastName: 'inviter', email: anyEmail() } })
    await db.teamMember.create({ data: { teamId: ids.team, personId: inviter, role: 'owner' } })
    const { id: invitation } = await team.as(inviter).people.invite({ team: ids.team, email, role: 'developer' })
    const [person] = await findPersons(db, accounts(email), now())
    expect(await receivedBy(person!.id)).toMatchObject([{ id: invitation, invitedBy: 'Dev inviter' }])
    await erase(db, inviter, [])
    expect(await receivedBy(person!.id)).toEqual([])
    const { invitations } = await team.as(team.owner).teams.get({ team: ids.team })
    expect(invitations.map(({ id }) => id)).not.toContain(invitation)
    expect(await readRefusal(team.as(person!.id).invitations.accept({ invitation }))).toMatchObject({ status: 404 })
    expect(await listMemberships(person!.id)).toEqual([])
  })

  it('goes with the person who is erased before they have answered', async () => {
    const { db } = auth.world
    const email = anyEmail()
    const { id: invitation } = await invite(email)
    const [person] = await findPersons(db, accounts(email), now())
    // The platform has given them another address since.
    await db.person.update({ where: { id: person!.id }, data: { email: anyEmail() } })
    await erase(db, person!.id, [])
    expect(await db.teamInvitation.findUnique({ where: { id: invitation } })).toBeNull()
  })

  it('stays with the person to whom it was offered when another one with the address is erased', async () => {
    const { db } = auth.world
    const [email, later] = [anyEmail(), id('later')]
    const { id: invitation } = await invite(email)
    const [person] = await findPersons(db, accounts(email), now())
    await db.person.update({ where: { id: person!.id }, data: { email: anyEmail() } })
    await db.person.create({ data: { id: later, firstName: 'Dev', lastName: 'later', email } })
    await erase(db, later, [])
    expect(await receivedBy(person!.id)).toMatchObject([{ id: invitation }])
  })
})

describe('a person of a team who is in no club', () => {
  it('signs in, with their address or a linked account', async () => {
    const { db } = auth.world
    const account = accounts(`${team.colleague}@example.org`)
    expect(await findPersons(db, account, now())).toEqual([{ id: team.colleague, name: 'Dev colleague' }])
    await db.loginIdentity.create({
      data: { issuer: account.issuer, subject: account.subject, personId: team.colleague },
    })
    expect(await findPersons(db, { ...account, email: anyEmail() }, now())).toMatchObject([{ id: team.colleague }])
  })

  it('no longer signs in once they have left the team, and does with a new invitation', async () => {
    const { db, ids } = auth.world
    const email = `${team.colleague}@example.org`
    await team.as(team.owner).people.remove({ team: ids.team, person: team.colleague })
    expect(await findPersons(db, accounts(email), now())).toEqual([])
    await invite(email)
    expect(await findPersons(db, accounts(email), now())).toMatchObject([{ id: team.colleague }])
  })
})
