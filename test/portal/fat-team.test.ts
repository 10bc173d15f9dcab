import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { errors } from '../../routers/kernel/errors.ts'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { themeFile } from '../../server/browser/look/theme.ts'
import { migratedDatabase } from '../support/databases.ts'
import { id } from '../support/tenant.ts'
import { openTestDatabase } from '../support/test-database.ts'
import type { PortalWorld } from './portal-world.ts'
import { listPages, portal, startPortal, weigh } from './portal-world.ts'

const [APPS, CLIENTS, CLIENTS_SHOWN] = [12, 20, 5]

/** What a page may read: 50 rows of some hundred bytes, with the columns' descriptions. */
const MAX_READ = 40_000

const ends: (() => Promise<void>)[] = []
let read = 0
let team: PortalWorld
let apps: string[]
let pages: string[]
const server = createServer((client) => {
  const { hostname, port } = new URL(inject('databaseUrl'))
  const database = connect({ host: hostname, port: Number(port || 5432) })
  client.pipe(database).on('error', () => client.destroy())
  database.pipe(client).on('error', () => database.destroy())
  database.on('data', ({ length }) => {
    read += length
  })
})
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // A database of its own: a service reads all signing keys of a database every 3 s, and the shared one has those of many.
  const url = new URL(await migratedDatabase((end) => void ends.push(end)))
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  team = await startPortal({ db: openTestDatabase(url.href) })
  const { world, failed, sandbox } = team
  const { db, ids } = world
  const { id: client } = await sandbox()
  pages = ['', ...listPages(ids.team, ids.app, client, await failed())]
  apps = Array.from({ length: APPS }, () => id('app'))
  const description = 'd'.repeat(500)
  await db.app.createMany({
    data: apps.map((app) => ({ id: app, name: `X${app}`, description, teamId: ids.team, providerId: ids.provider })),
  })
  const redirectUris = Array.from({ length: 20 }, (_, at) => `https://app.example/${at}/${'x'.repeat(100)}`)
  await db.client.createMany({
    data: apps.flatMap((appId) =>
      Array.from({ length: CLIENTS }, () => ({
        id: id('client'),
        name: 'Zebra',
        teamId: ids.team,
        appId,
        environment: 'sandbox' as const,
        testOnly: true,
        redirectUris,
        scopes: ['svc.me.profile:read'],
      })),
    ),
  })
})
afterAll(async () => {
  await team?.world.close()
  await team?.world.db.$disconnect()
  server.close()
  for (const end of ends) await end()
})

it(`each page of a team with ${APPS * CLIENTS} clients reads less than ${MAX_READ / 1000} KB`, async () => {
  const reads: [string, number][] = []
  for (const page of pages) {
    // The first time, statements are prepared.
    await team.asOwner.get(portal + page)
    read = 0
    expect((await team.asOwner.get(portal + page)).status).toBe(200)
    reads.push([page, read])
  }
  expect(reads.every(([, bytes]) => bytes > 0)).toBe(true)
  expect(reads.filter(([, bytes]) => bytes > MAX_READ)).toEqual([])
})

describe('a list that is longer than its page', () => {
  const next = (text: string) => /href="([^"]+)">Next</.exec(text)?.[1]?.replaceAll('&amp;', '&')
  /** All pages of a list, one after another. */
  async function turned(address: string) {
    const texts: string[] = []
    for (let at: string | undefined = address; at; at = next(texts.at(-1)!)) {
      texts.push((await team.asOwner.get(new URL(at, portal))).text)
    }
    return texts
  }

  it('shows each app of a team once, 10 on a page, with five of its clients and a link to the others', async () => {
    const texts = await turned(team.own)
    expect(texts.map((text) => text.split('<section class="entry">').length - 1)).toEqual([10, APPS + 2 - 10])
    for (const app of apps) expect(texts.filter((text) => text.includes(`/apps/${app}"><`))).toHaveLength(1)
    const text = texts.join('')
    expect(text.split('>Zebra<').length - 1).toBe(APPS * CLIENTS_SHOWN)
    for (const app of apps) expect(text).toContain(`/apps/${app}/clients">${CLIENTS - CLIENTS_SHOWN} more clients<`)
    const { text: all } = await team.asOwner.get(new URL(`${team.own}/apps/${apps[0]}/clients`, portal))
    expect(all.split('>Zebra<').length - 1).toBe(CLIENTS)
  })

  it('shows each person of a team once, 30 on a page', async () => {
    const { db, ids } = team.world
    const people = Array.from({ length: 60 }, () => id('person'))
    await db.person.createMany({
      data: people.map((one) => ({ id: one, firstName: 'P', lastName: one, email: `${one}@example.org` })),
    })
    await db.teamMember.createMany({
      data: people.map((personId) => ({ teamId: ids.team, personId, role: 'developer' })),
    })
    const texts = await turned(`${team.own}/people`)
    expect(texts).toHaveLength(3)
    for (const one of people) expect(texts.filter((text) => text.includes(`${one}@example.org`))).toHaveLength(1)
  })

  it('weighs at most 20 kB with gzip, and 60 kB with its style sheets and scripts', async () => {
    const { db, ids } = team.world
    const ofTeam = { teamId: ids.team, at: new Date() }
    const rows = <T>(row: () => T) => Array.from({ length: 60 }, row)
    const address = 'https://app.example/signed-in/callback'
    const delivery = await db.delivery.findUniqueOrThrow({ where: { id: await team.failed() } })
    await db.delivery.createMany({ data: rows(() => ({ ...delivery, id: randomUUID() })) })
    await db.auditEntry.createMany({
      data: rows(() => ({
        ...ofTeam,
        personId: team.owner,
        action: 'client.create',
        target: 'c_abcdefghijklmnopqrst',
        after: { name: 'Trainer', redirectUris: [address, address], scopes: memberScopes.slice(0, 4), type: 'web' },
      })),
    })
    await db.refusedRequest.createMany({
      data: rows(() => ({
        ...ofTeam,
        clientId: ids.client,
        requestId: randomUUID(),
        method: 'GET',
        route: '/storage/{collection}/{key}',
        status: 403,
        error: 'scopeMissing',
        message: errors.scopeMissing('svc.apps.storage:write').message,
        ms: 3,
      })),
    })
    const parts = await Promise.all(
      ['developers/style.css', 'developers/script.js', 'style.css', `.${themeFile.place}`].map((part) =>
        team.asOwner.get(new URL(part, portal).href),
      ),
    )
    const shared = parts.reduce((sum, { text }) => sum + weigh(text), 0)
    expect(shared).toBeGreaterThan(5_000)
    for (const page of [
      team.own,
      `${team.own}/people`,
      `${team.own}/audit`,
      `${team.own}/requests`,
      `${team.app}/deliveries`,
    ]) {
      const { text } = await team.asOwner.get(page)
      const own = weigh(text)
      expect([page, Math.max(0, own - 20_000), Math.max(0, own + shared - 60_000)]).toEqual([page, 0, 0])
    }
  })

  it('offers 50 clients to a filter, and the one that a link chose', async () => {
    const { db, ids } = team.world
    const { id: last } = await db.client.create({
      data: { id: id('client'), name: 'zz', teamId: ids.team, environment: 'sandbox', scopes: [], redirectUris: [] },
    })
    for (const section of ['usage', 'requests']) {
      const { text } = await team.asOwner.get(`${team.own}/${section}?client=${last}`)
      expect(text).toContain(`<option value="${last}" selected>`)
      expect(/<select id="client".*?<\/select>/s.exec(text)![0].split('<option').length - 1).toBe(1 + 50 + 1)
    }
  })
})
