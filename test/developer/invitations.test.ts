import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acceptInvitations } from '../../routers/developer/acceptance.ts'
import { personsOf } from '../../server/oauth/login/upstream-identity.ts'
import type { AuthWorld } from '../oauth/auth-world.ts'
import { startAuthWorld } from '../oauth/auth-world.ts'
import { startCodeWorld } from '../oauth/code-world.ts'
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
const rolesOf = async (person: string) =>
  (await auth.world.db.teamMember.findMany({ where: { personId: person } })).map(({ teamId, role }) => [teamId, role])
const accounts = (email: string, subject = id('subject')) => ({ issuer: 'https://login.example', subject, email })

describe('an invitation', () => {
  it('makes a person of the team of whoever signs in with its address and is new here', async () => {
    const email = anyEmail()
    const { id: invitation } = await invite(` ${email.toUpperCase()} `, 'owner')
    const [person, ...others] = await personsOf(auth.world.db, accounts(email), now())
    expect([person!.name, others]).toEqual([email.split('@')[0], []])
    expect(await rolesOf(person!.id)).toEqual([[auth.world.ids.team, 'owner']])
    const { items } = await team.as(person!.id).audit.list({ team: auth.world.ids.team, limit: 1 })
    expect(items[0]).toMatchObject({
      action: 'person.join',
      target: person!.id,
      by: { id: person!.id, name: person!.name },
      after: { role: 'owner', invitation },
    })
    expect(await personsOf(auth.world.db, accounts(email), now())).toEqual([person])
    await team.as(team.owner).people.remove({ team: auth.world.ids.team, person: person!.id })
  })

  it('makes one person of two sign-ins at the same time', async () => {
    const email = anyEmail()
    await invite(email)
    const both = await Promise.all([1, 2].map(() => personsOf(auth.world.db, accounts(email), now())))
    expect(new Set(both.flat().map((person) => person.id)).size).toBe(1)
    expect(await auth.world.db.person.count({ where: { email } })).toBe(1)
  })

  it('is accepted by a member who is known already', async () => {
    const { db, ids } = auth.world
    const email = anyEmail()
    await db.person.update({ where: { id: ids.member }, data: { email } })
    await invite(email)
    await auth.toConsent(
      auth.newBrowser(),
      auth.authorizeUrl({ client: auth.client, scope: 'svc.me.profile:read' }).url,
      ids.member,
    )
    expect(await rolesOf(ids.member)).toEqual([[ids.team, 'developer']])
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
    expect(await personsOf(auth.world.db, accounts(anyEmail()), now())).toEqual([])
    expect(await personsOf(auth.world.db, { ...accounts(email), email: null as never }, now())).toEqual([])
    expect(await personsOf(auth.world.db, accounts(email), now() + 7 * DAY_MS + 1000)).toEqual([])
    await team.as(team.owner).people.withdraw({ team: auth.world.ids.team, invitation })
    expect(await personsOf(auth.world.db, accounts(email), now())).toEqual([])
    expect(await auth.world.db.person.count({ where: { email } })).toBe(0)
  })

  it('replaces an earlier one, and leaves the role of a person of the team alone', async () => {
    const email = anyEmail()
    await invite(email, 'owner')
    await invite(email, 'developer')
    const where = { email }
    expect(await auth.world.db.teamInvitation.findMany({ where })).toMatchObject([{ role: 'developer' }])
    await acceptInvitations(auth.world.db, { email, now: new Date(now()) }, team.owner)
    expect(await rolesOf(team.owner)).toEqual([[auth.world.ids.team, 'owner']])
  })
})

describe('a person of a team who is in no club', () => {
  it('signs in, with their address or a linked account', async () => {
    const { db } = auth.world
    const account = accounts(`${team.colleague}@example.org`)
    expect(await personsOf(db, account, now())).toEqual([{ id: team.colleague, name: 'Dev colleague' }])
    await db.loginIdentity.create({
      data: { issuer: account.issuer, subject: account.subject, personId: team.colleague },
    })
    expect(await personsOf(db, { ...account, email: anyEmail() }, now())).toMatchObject([{ id: team.colleague }])
  })

  it('can allow an app nothing: that takes a membership', async () => {
    const page = await auth.toConsent(
      auth.newBrowser(),
      auth.authorizeUrl({ client: auth.client, scope: 'svc.me.profile:read' }).url,
      team.colleague,
    )
    expect(page.text).toContain('No suitable membership')
  })

  it('no longer signs in once they have left the team, and does with a new invitation', async () => {
    const { db, ids } = auth.world
    const email = `${team.colleague}@example.org`
    await team.as(team.owner).people.remove({ team: ids.team, person: team.colleague })
    expect(await personsOf(db, accounts(email), now())).toEqual([])
    await invite(email)
    expect(await personsOf(db, accounts(email), now())).toMatchObject([{ id: team.colleague }])
  })
})
