import { describe, expect, it } from 'vitest'
import { id } from '../support/tenant.ts'
import { portal, portalWorld } from './portal-world.ts'

const team = portalWorld()

/** Invites the member of the tenant, who then signs in. */
async function invited(role: 'owner' | 'developer' = 'developer') {
  const { db, ids } = team.world
  const email = `${id('invited')}@example.org`
  await db.person.update({ where: { id: ids.member }, data: { email } })
  const invitation = await team.as(team.owner).people.invite({ team: ids.team, email, role })
  const browser = await team.signIn(ids.member)
  return { browser, email, address: `${portal}/invitations/${invitation.id}`, invitation: invitation.id }
}
const readRoles = async (person: string) =>
  (await team.world.db.teamMember.findMany({ where: { personId: person } })).map(({ role }) => role)

describe('an invitation in the portal', () => {
  it('is on the first page, and its own page has team, inviter and role', async () => {
    const { browser, address } = await invited()
    expect((await browser.get(portal)).text).toContain(`href="${new URL(address).pathname}"`)
    const { status, text } = await browser.get(address)
    expect(status).toBe(200)
    const { name } = await team.world.db.team.findUniqueOrThrow({ where: { id: team.world.ids.team } })
    for (const part of ['Join ', 'developer', 'Invited by', 'Decline', name, 'Dev owner']) expect(text).toContain(part)
    expect(text).not.toMatch(/undefined|\bnull\b/)
    expect(await readRoles(team.world.ids.member)).toEqual([])
  })

  it('is accepted by its button, and leads to the team', async () => {
    const { browser, address } = await invited('owner')
    const page = await browser.follow(await browser.post(`${address}/accept`, {}))
    expect([page.status, page.url.href]).toEqual([200, `${team.own}?done=joined`])
    expect(page.text).toContain('You have joined the team.')
    expect(await readRoles(team.world.ids.member)).toEqual(['owner'])
    expect((await browser.get(address)).status).toBe(404)
    expect((await browser.post(`${address}/accept`, {})).status).toBe(404)
    await team.as(team.owner).people.remove({ team: team.world.ids.team, person: team.world.ids.member })
  })

  it('is declined by another, and the team sees the address until then alone', async () => {
    const { browser, address, email, invitation } = await invited()
    const { member } = team.world.ids
    const people = await team.asOwner.get(`${team.own}/people`)
    expect(people.text).toContain(email)
    expect(people.text).not.toContain(member)
    const page = await browser.follow(await browser.post(`${address}/decline`, {}))
    expect(page.text).toContain('The invitation was declined.')
    expect(await readRoles(member)).toEqual([])
    expect(await team.world.db.teamInvitation.count({ where: { id: invitation } })).toBe(0)
    expect((await team.asOwner.get(`${team.own}/people`)).text).not.toContain(email)
    const audit = await team.asOwner.get(`${team.own}/audit`)
    const [row] = audit.text.split('</li>').filter((one) => one.includes('Invitation declined'))
    expect(row).toContain(invitation)
    expect(row).not.toContain(member)
  })
})

describe('an invitation to somebody who is signed in', () => {
  it('is on their first page at once, which names the address', async () => {
    const { db, ids } = team.world
    const [person, email] = [id('guest'), `${id('guest')}@example.org`]
    await db.person.create({ data: { id: person, firstName: 'Jo', lastName: 'Sea', email } })
    const browser = await team.signIn(person)
    const before = await browser.get(portal)
    expect(before.text).toContain(`You are signed in as ${email}.`)
    expect(before.text).not.toContain('/invitations/')
    const { id: invitation } = await team.as(team.owner).people.invite({ team: ids.team, email, role: 'developer' })
    expect((await browser.get(portal)).text).toContain(`/invitations/${invitation}"`)
    expect(await readRoles(person)).toEqual([])
    await browser.follow(await browser.post(`${portal}/invitations/${invitation}/accept`, {}))
    expect(await readRoles(person)).toEqual(['developer'])
  })

  it('whose address others have as well is offered after a sign-in with it alone, and to nobody else', async () => {
    const { db, ids } = team.world
    const [people, email] = [[id('parent'), id('child')], `${id('family')}@example.org`]
    await db.person.createMany({ data: people.map((one) => ({ id: one, firstName: 'Jo', lastName: 'Sea', email })) })
    const browsers = await Promise.all(people.map((person) => team.signIn(person)))
    const { id: invitation } = await team.as(team.owner).people.invite({ team: ids.team, email, role: 'developer' })
    for (const browser of [...browsers, team.asStranger]) {
      expect((await browser.get(portal)).text).not.toContain(invitation)
      expect((await browser.post(`${portal}/invitations/${invitation}/accept`, {})).status).toBe(404)
    }
    expect(await db.teamInvitation.findUnique({ where: { id: invitation } })).toMatchObject({
      personId: null,
      acceptedAt: null,
    })
  })
})
