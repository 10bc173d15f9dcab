import { beforeAll, describe, expect, it } from 'vitest'
import { mintDelivery, mintReceiver } from '../conformance/delivery-tenant.ts'
import type { Page } from '../oauth/browser.ts'
import { id } from '../support/tenant.ts'
import { portal, portalWorld } from './portal-world.ts'

const team = portalWorld()

beforeAll(async () => {
  const { db, ids } = team.world
  const people = Array.from({ length: 30 }, () => id('person'))
  await db.person.createMany({
    data: people.map((one) => ({ id: one, firstName: 'Jo', lastName: 'Sea', email: `${one}@example.org` })),
  })
  await db.teamMember.createMany({
    data: people.map((personId) => ({ teamId: ids.team, personId, role: 'developer' })),
  })
  const app = { name: 'App', teamId: ids.team, providerId: ids.provider }
  await db.app.createMany({ data: Array.from({ length: 10 }, () => ({ ...app, id: id('app') })) })
  const receiver = await mintReceiver(db, ids.app)
  for (let n = 0; n < 31; n++) await mintDelivery(db, receiver, { state: 'failed' })
})

const invite = { email: 'nobody', role: 'developer' }
const findNext = ({ text }: Page) =>
  new URL(/rel="next" href="([^"]+)"/.exec(text)![1]!.replaceAll('&amp;', '&'), portal)

describe('on the page of a refused form, Next', () => {
  it.each([
    ['the people of a team', '/people', '/people/invite', invite, 30],
    ['the apps of a team', '', '/apps', { name: ' ', provider: 'none' }, 10],
    ['deliveries', '/apps/APP/deliveries', '/apps/APP/deliveries/retry-failed', { span: 'day', type: '%' }, 30],
  ])('leads to the next page of the list of %s', async (_, list, form, fields, rows) => {
    const toUrl = (path: string) => team.own + path.replace('APP', team.world.ids.app)
    const refused = await team.asOwner.post(toUrl(form), fields)
    expect(refused.status).toBe(400)
    expect(refused.text).toContain(`<span>1 to ${rows}</span>`)
    expect(refused.text).toContain(`<a href="${new URL(toUrl(list)).pathname}" aria-current="page">`)
    expect(findNext(refused).href).toBe(`${toUrl(list)}?offset=${rows}`)
    const next = await team.asOwner.get(findNext(refused))
    expect([next.status, next.text.includes(`<span>${rows + 1} to `)]).toEqual([200, true])
  })

  it('leads there too where the form waited for another sign-in', async () => {
    const browser = await team.signIn(team.owner)
    team.world.advance(16 * 60)
    const asked = await browser.follow(await browser.post(`${team.own}/people/invite`, invite))
    const refused = await browser.submit(asked, 'pick', { member: team.owner })
    expect([refused.status, refused.url.href]).toEqual([400, `${portal}/continue`])
    expect(findNext(refused).href).toBe(`${team.own}/people?offset=30`)
    team.world.advance(-16 * 60)
  })
})
