import { describe, expect, it } from 'vitest'
import { refuseTeam } from '../../routers/developer/teams/requests.ts'
import { id } from '../support/tenant.ts'
import type { PortalWorld } from './portal-world.ts'
import { portal, portalWorld } from './portal-world.ts'

const worlds = {
  open: portalWorld({ teamSignup: 'open' }),
  request: portalWorld({ teamSignup: 'request' }),
  closed: portalWorld({ teamSignup: 'closed' }),
}

/** A member without a team, who has signed in. */
async function newcomer({ world: { db }, signIn }: PortalWorld) {
  const person = id('newcomer')
  await db.person.create({ data: { id: person, firstName: 'Jo', lastName: 'Sea', email: `${person}@example.org` } })
  return { person, browser: await signIn(person) }
}
const forms = (text: string) =>
  [...text.matchAll(/<form method="post" action="[^"]*\/(\w+-team)"/g)].map(([, action]) => action)
const ownedBy = ({ world: { db } }: PortalWorld, person: string) =>
  db.team.findMany({ where: { people: { some: { personId: person, role: 'owner' } } } })

describe('the first page of the portal', () => {
  it('has an open form for a team where TEAM_SIGNUP is open, which leads to the new team', async () => {
    const { person, browser } = await newcomer(worlds.open)
    const { text } = await browser.get(portal)
    expect(forms(text)).toEqual(['create-team'])
    expect(text).toContain('<details class="card" open><summary>New team</summary>')
    expect(text).toMatch(/<input id="create-team-name" name="name" type="text" value="" [^>]*required maxlength="100"/)
    const page = await browser.follow(await browser.post(`${portal}/create-team`, { name: 'Sailors' }))
    const [team] = await ownedBy(worlds.open, person)
    expect([page.status, page.url.href]).toEqual([200, `${portal}/teams/${team!.id}?done=founded`])
    expect(page.text).toContain('Your team was created.')
    expect((await browser.get(portal)).text).toContain('<details class="card"><summary>New team</summary>')
  })

  it('shows what was typed beside the fault, and a limit', async () => {
    const { person, browser } = await newcomer(worlds.open)
    const refused = await browser.post(`${portal}/create-team`, { name: 'a\u202eb' })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('aria-invalid="true"')
    for (const name of ['One', 'Two', 'Three']) await browser.post(`${portal}/create-team`, { name })
    const limited = await browser.post(`${portal}/create-team`, { name: 'Four' })
    expect([limited.status, limited.text.includes('A person can own at most 3 teams.')]).toEqual([409, true])
    expect(await ownedBy(worlds.open, person)).toHaveLength(3)
  })

  it('takes a request where TEAM_SIGNUP is request, shows it, and shows the refusal with the form', async () => {
    const { person, browser } = await newcomer(worlds.request)
    expect(forms((await browser.get(portal)).text)).toEqual(['request-team'])
    const asked = { name: 'Sailors', purpose: 'Results of <regattas>.' }
    const page = await browser.follow(await browser.post(`${portal}/request-team`, asked))
    expect(page.url.href).toBe(`${portal}?done=asked`)
    expect(page.text).toContain('Results of &lt;regattas&gt;.')
    expect(forms(page.text)).toEqual(['withdraw-team'])
    const { db, core } = worlds.request.world
    const { id: request } = await db.teamRequest.findUniqueOrThrow({ where: { personId: person } })
    await refuseTeam(db, { id: request }, 'For which clubs?', new Date(core.now()))
    const { text } = await browser.get(portal, { 'accept-language': 'de' })
    expect(text).toContain('For which clubs?')
    expect(text).toContain('Team beantragen')
    expect(text).toMatch(/<textarea [^>]*>\nResults of &lt;regattas&gt;\.<\/textarea>/)
    await browser.post(`${portal}/request-team`, asked)
    const withdrawn = await browser.follow(await browser.post(`${portal}/withdraw-team`, {}))
    expect(withdrawn.text).toContain('Your request was withdrawn.')
    expect(await db.teamRequest.count({ where: { personId: person } })).toBe(0)
  })

  it('explains who creates teams where TEAM_SIGNUP is closed, and its forms are refused', async () => {
    const { person, browser } = await newcomer(worlds.closed)
    const { text } = await browser.get(portal)
    expect(text).toContain('New teams are created by the platform’s operator.')
    expect(forms(text)).toEqual([])
    for (const action of ['create-team', 'request-team']) {
      const { status } = await browser.post(`${portal}/${action}`, { name: 'Sailors', purpose: 'Results.' })
      expect(status).toBe(403)
    }
    expect(await ownedBy(worlds.closed, person)).toEqual([])
    expect(await worlds.closed.world.db.teamRequest.count({ where: { personId: person } })).toBe(0)
  })
})
