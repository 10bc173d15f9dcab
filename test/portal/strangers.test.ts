import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PortalWorld } from './portal-world.ts'
import { formsOf, pagesOf, portal, startPortal } from './portal-world.ts'

let team: PortalWorld
let ids: [team: string, app: string, client: string, delivery: string]
let forms: ReturnType<typeof formsOf>
beforeAll(async () => {
  team = await startPortal()
  const { world, sandbox, failed } = team
  const { id } = await sandbox()
  ids = [world.ids.team, world.ids.app, id, await failed()]
  forms = formsOf(...ids, team.colleague, world.ids.provider)
})
afterAll(() => team.world.close())

const untouched = async (work: () => Promise<void>) => {
  const { stored, world } = team
  const deliveries = () => world.db.delivery.findMany({ where: { appId: world.ids.app } })
  const before = [await stored(), await deliveries()]
  await work()
  expect([await stored(), await deliveries()]).toEqual(before)
}

describe('another team’s', () => {
  it('pages do not exist', async () => {
    for (const address of pagesOf(...ids)) {
      const { status, text } = await team.asStranger.get(portal + address)
      expect([address, status]).toEqual([address, 404])
      expect(text).toContain('Page not found')
      for (const id of ids) expect(text).not.toContain(id)
    }
  })

  it('things are not found below one’s own team either', async () => {
    const [, ...others] = ids
    for (const address of pagesOf(team.strangers, ...others).slice(5)) {
      expect([address, (await team.asStranger.get(portal + address)).status]).toEqual([address, 404])
    }
  })

  it('forms do nothing', () =>
    untouched(async () => {
      for (const [address, fields] of Object.entries(forms)) {
        const { status } = await team.asStranger.post(portal + address, fields)
        expect([address, status]).toEqual([address, 404])
      }
    }))
})

describe('without signing in', () => {
  it('each page asks for it, and then goes on', async () => {
    for (const address of pagesOf(...ids)) {
      const { status, location } = await team.newBrowser().get(portal + address)
      expect([address, status, location?.href]).toEqual([address, 303, `${portal}/sign-in`])
    }
    const browser = team.newBrowser()
    const page = await browser.open(`${team.own}/audit?offset=0`)
    expect(page.text).toContain('to continue to the developer portal')
    const { url } = await browser.submit(page, 'pick', { member: team.owner })
    expect(url.href).toBe(`${team.own}/audit?offset=0`)
  })

  it('forms do nothing', () =>
    untouched(async () => {
      for (const [address, fields] of Object.entries(forms)) {
        const { status, location } = await team.newBrowser().post(portal + address, fields)
        expect([address, status, location?.href]).toEqual([address, 303, `${portal}/sign-in`])
      }
    }))
})

describe('from another site', () => {
  it.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://elsewhere.test' },
    { origin: '' },
  ])('forms do nothing: %o', (headers) =>
    untouched(async () => {
      for (const [address, fields] of Object.entries({ ...forms, '/sign-out': {} })) {
        const { status } = await team.asOwner.post(portal + address, fields, headers)
        expect([address, status]).toEqual([address, 403])
      }
      expect((await team.asOwner.get(portal)).status).toBe(200)
    }),
  )
})

describe('a developer of the team', () => {
  it('cannot do what is the owners’, and is not offered it', () =>
    untouched(async () => {
      const { own, clientAt, asColleague } = team
      const client = clientAt(ids[2])
      for (const address of ['/people/invite', '/people/role']) {
        const { status, text } = await asColleague.post(own + address, forms[`/teams/${ids[0]}${address}`]!)
        expect([address, status]).toEqual([address, 403])
        expect(text).toContain('Only an owner of the team may do this.')
      }
      const asked = await asColleague.post(
        `${client}/production/request`,
        forms[`/teams/${ids[0]}/clients/${ids[2]}/production/request`]!,
      )
      expect(asked.status).toBe(403)
      expect((await asColleague.get(`${own}/people`)).text).not.toMatch(/people\/(invite|role|withdraw)/)
      expect((await asColleague.get(client)).text).not.toContain('/production"')
    }))
})
