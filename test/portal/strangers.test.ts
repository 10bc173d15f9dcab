import { beforeAll, describe, expect, it } from 'vitest'
import { listPages, portal, portalWorld } from './portal-world.ts'

const team = portalWorld()
let ids: [team: string, app: string, client: string, delivery: string]
beforeAll(async () => {
  const { world, sandbox, failed } = team
  const { id } = await sandbox()
  ids = [world.ids.team, world.ids.app, id, await failed()]
})

/** test/portal/routes.test.ts has what each route refuses. */
describe('another team’s', () => {
  it('things are not found below one’s own team either', async () => {
    const [, ...others] = ids
    for (const address of listPages(team.strangers, ...others).filter((page) => /\/(apps|clients)\//.test(page))) {
      const { status, text } = await team.asStranger.get(portal + address)
      expect([address, status, text.includes('Page not found')]).toEqual([address, 404, true])
    }
  })
})

it('a page asks for a sign-in, and then goes on', async () => {
  const browser = team.newBrowser()
  const page = await browser.open(`${team.own}/audit?offset=0`)
  expect(page.text).toContain('to continue to the developer portal')
  const { url } = await browser.submit(page, 'pick', { member: team.owner })
  expect(url.href).toBe(`${team.own}/audit?offset=0`)
})

it('a developer reads what only owners may do, and is not offered it', async () => {
  const { own, clientAt, asColleague } = team
  const { text } = await asColleague.post(`${own}/people/invite`, { email: 'new@example.org', role: 'developer' })
  expect(text).toContain('Only an owner of the team can do this.')
  expect((await asColleague.get(`${own}/people`)).text).not.toMatch(/people\/(invite|role|withdraw)/)
  expect((await asColleague.get(clientAt(ids[2]))).text).not.toContain('/production"')
})
