import { beforeAll, describe, expect, it } from 'vitest'
import { listPages, portal, portalWorld } from './portal-world.ts'

const team = portalWorld()
let client: string
let addresses: string[]
beforeAll(async () => {
  const { id } = await team.sandbox({ name: 'Web client' })
  client = id
  const { ids } = team.world
  addresses = listPages(ids.team, ids.app, id, await team.failed())
})

/** The names of the tenant's team and app. */
async function readNames() {
  const { db, ids } = team.world
  const [own, app] = await Promise.all([
    db.team.findUniqueOrThrow({ where: { id: ids.team } }),
    db.app.findUniqueOrThrow({ where: { id: ids.app } }),
  ])
  return { team: own.name, app: app.name }
}
const read = async (address: string) => (await team.asOwner.get(portal + address)).text
const readTitle = (text: string) => /<h1>(?:<bdi>)?(.*?)(?:<\/bdi>)?<\/h1>/.exec(text)![1]
const currentIn = (text: string, label: string) => {
  const [, links] = new RegExp(`<nav class="(?:side|tabs)" aria-label="${label}">(.*?)</nav>`, 's').exec(text) ?? []
  return /aria-current="(\w+)">([^<]+)</.exec(links ?? '')?.slice(1)
}

describe('a page of the portal', () => {
  it('has the name of its client, its app or its team as the only h1', async () => {
    const { app, team: own } = await readNames()
    for (const address of addresses) {
      const text = await read(address)
      const name = address.includes('/clients/') ? 'Web client' : address.includes('/apps/') ? app : own
      expect([address, readTitle(text), text.match(/<h1>/g)?.length]).toEqual([address, name, 1])
      expect([address, text.match(/<h2 class="section">/g)?.length]).toEqual([address, 1])
    }
  })

  it('marks itself in its navigation, or the page that it is below', async () => {
    const { ids } = team.world
    const own = `/teams/${ids.team}`
    const app = `${own}/apps/${ids.app}`
    const ofApp = 'Pages of the app'
    for (const [address, label, expected] of [
      [own, 'Pages of the team', ['page', 'Apps']],
      [`${own}/people`, 'Pages of the team', ['page', 'People']],
      [`${own}/test-club/reset`, 'Pages of the team', ['true', 'Test club']],
      [app, ofApp, ['page', 'Overview']],
      [`${app}/clients`, ofApp, ['page', 'Clients']],
      [`${app}/requests`, ofApp, ['page', 'Requests']],
      [`${app}/usage`, ofApp, ['page', 'Usage']],
      [`${app}/settings`, ofApp, ['page', 'Settings']],
      [`${app}/delete`, ofApp, ['true', 'Settings']],
      [`${app}/rules`, ofApp, ['true', 'Data']],
      [`${own}/clients/${client}/scopes`, ofApp, ['true', 'Clients']],
      [`${own}/clients/${client}/scopes`, 'Pages of the client', ['page', 'Scopes']],
    ] as const) {
      expect([address, currentIn(await read(address), label)]).toEqual([address, expected])
    }
  })

  it('has the person’s teams, a search of the documentation, and their account in its header', async () => {
    const { ids } = team.world
    const names = await readNames()
    const [header] = /<header.*?<\/header>/s.exec(await read(`/teams/${ids.team}/people`))!
    const path = new URL(portal).pathname
    expect(header).toContain(`<a href="${path}/teams/${ids.team}" aria-current="true"><bdi>${names.team}</bdi></a>`)
    expect(header).toContain(`<a href="${path}">All teams and invitations</a>`)
    expect(header).toMatch(/<form role="search" action="\/docs\/search">.* name="q"/)
    expect(header).toContain(`<a href="${path}/mails">`)
    expect(header).toContain(`action="${path}/sign-out"`)
    const [stranger] = /<header.*?<\/header>/s.exec((await team.asStranger.get(portal)).text)!
    expect(stranger).not.toContain(ids.team)
  })
})

it('a person of many teams has the first ten in the header', async () => {
  const { db } = team.world
  const person = team.stranger
  for (let n = 0; n < 12; n++) {
    const id = `many-${n}-${team.world.ids.team}`
    await db.team.create({
      data: { id, name: `Many ${n}`, level: 'hobby', people: { create: { personId: person, role: 'owner' } } },
    })
  }
  const [header] = /<header.*?<\/header>/s.exec((await team.asStranger.get(portal)).text)!
  expect(header.match(/developers\/teams\//g)).toHaveLength(10)
})
