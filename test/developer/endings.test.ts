import { beforeEach, describe, expect, it } from 'vitest'
import { removeEnded } from '../../routers/developer/deletion/remove-ended.ts'
import { repeatRemoval } from '../../server/admin/repeat-removals.ts'
import { authWorld } from '../oauth/auth-world.ts'
import { readRefusal } from '../support/platform.ts'
import { id } from '../support/tenant.ts'
import { addPeople, profileRead } from './team-world.ts'

const DAY_MS = 86_400_000
/** Before any end of another test, which shares the database. */
const END = new Date('2020-01-01T00:00:00Z')

const auth = authWorld()
let people: Awaited<ReturnType<typeof addPeople>>
let team: string
let app: string
let client: string

const api = () => people.as(people.owner)
const db = () => auth.world.db
const consentTo = (of: string) =>
  db().consent.create({
    data: {
      id: id('grant'),
      clientId: of,
      personId: auth.world.ids.member,
      organisationId: auth.world.ids.club,
      scopes: [profileRead],
    },
  })

/** A team of its own with an app that members use. */
beforeEach(async () => {
  people ??= await addPeople(auth.world)
  const { ids } = auth.world
  team = id('team')
  await db().team.create({ data: { id: team, name: 'Enders', level: 'developer' } })
  await db().teamMember.createMany({
    data: [
      { teamId: team, personId: people.owner, role: 'owner' },
      { teamId: team, personId: people.colleague, role: 'developer' },
    ],
  })
  app = (await api().apps.create({ team, name: 'Short lived', provider: ids.provider })).id
  await api().webhook.set({ app, url: 'https://hooks.example/' })
  await api().webhook.test({ app })
  const sandbox = {
    app,
    name: 'Sandbox',
    type: 'web' as const,
    redirectUris: ['https://a.example/'],
    scopes: [profileRead],
  }
  client = (await api().clients.create(sandbox)).id
  await db().client.update({ where: { id: client }, data: { environment: 'production', testOnly: false } })
  await consentTo(client)
  await db().storageEntry.create({
    data: {
      appId: app,
      clubId: ids.club,
      owner: '',
      collection: 'c',
      key: 'k',
      value: '"four"',
      version: crypto.randomUUID(),
      updatedAt: new Date(),
    },
  })
})

const call = () => auth.world.call('GET', '/me/profile', { claims: { client_id: client, scope: profileRead } })
const appNow = () => db().app.findUnique({ where: { id: app } })
const stored = async () => ({
  teams: await db().team.findMany({ where: { id: team } }),
  apps: await db().app.findMany({ where: { teamId: team }, orderBy: { id: 'asc' } }),
})
const clean = async (now: number) => {
  while ((await removeEnded(db(), now, 2)) > 0) {}
}
const later = (days: number) => auth.world.core.now() + days * DAY_MS

describe('developer.apps.remove', () => {
  it('shows first what ends', async () => {
    expect(await api().apps.impact({ app })).toEqual({
      clients: 1,
      consents: 1,
      stores: 2,
      bytes: expect.any(Number),
      subscriptions: 0,
    })
    expect((await readRefusal(people.as(people.stranger).apps.impact({ app }))).status).toBe(404)
  })

  it('stops the app within 5 s, and an owner restores it', async () => {
    expect((await call()).status).toBe(200)
    const earliest = Math.floor(later(7) / 1_000)
    const { endsAt } = await api().apps.remove({ app, confirm: 'Short lived' })
    expect(endsAt).toBeGreaterThanOrEqual(earliest)
    expect(endsAt).toBeLessThanOrEqual(Math.floor(later(7) / 1_000))
    auth.world.advance(5)
    expect((await call()).status).toBe(401)
    expect(await api().apps.get({ app })).toMatchObject({ state: 'suspended', endsAt })
    expect((await readRefusal(api().webhook.test({ app }))).status).toBe(409)
    expect((await readRefusal(people.as(people.colleague).apps.restore({ app }))).status).toBe(403)
    await api().apps.restore({ app })
    auth.world.advance(5)
    expect((await call()).status).toBe(200)
    expect(await api().apps.get({ app })).toMatchObject({ state: 'active', endsAt: null })
    const { items } = await api().audit.list({ team, limit: 2, offset: 0 })
    expect(items.map(({ action, target }) => [action, target])).toEqual([
      ['app.restore', app],
      ['app.remove', app],
    ])
  })

  it('needs an owner and the name, and changes nothing else', async () => {
    const before = await stored()
    const attempts = [
      [people.owner, 'short lived', 409],
      [people.owner, '', 409],
      [people.colleague, 'Short lived', 403],
      [people.stranger, 'Short lived', 404],
    ] as const
    for (const [person, confirm, status] of attempts) {
      expect((await readRefusal(people.as(person).apps.remove({ app, confirm }))).status).toBe(status)
    }
    expect(await stored()).toEqual(before)
  })

  it('neither removes nor restores an app that the operator has suspended', async () => {
    await db().app.update({ where: { id: app }, data: { state: 'suspended' } })
    const before = await stored()
    expect((await readRefusal(api().apps.remove({ app, confirm: 'Short lived' }))).status).toBe(409)
    await api().apps.restore({ app })
    expect(await stored()).toEqual(before)
  })

  it('is final after 7 days: with clients, consents, storage and deliveries, in portions', async () => {
    await api().apps.remove({ app, confirm: 'Short lived' })
    await db().app.update({ where: { id: app }, data: { endsAt: END } })
    await clean(END.getTime() - 1)
    expect(await appNow()).not.toBeNull()
    await clean(END.getTime())
    expect(await appNow()).toBeNull()
    const where = { appId: app }
    expect([
      await db().storageEntry.count({ where }),
      await db().storageUsage.count({ where }),
      await db().publishedEvent.count({ where }),
      await db().client.count({ where: { id: client } }),
      await db().consent.count({ where: { clientId: client } }),
    ]).toEqual([0, 0, 0, 0, 0])
    expect(await db().team.count({ where: { id: team } })).toBe(1)
    expect((await readRefusal(api().apps.restore({ app }))).status).toBe(404)
  })

  it("is final in portions also of its storage's changes and of the answers to its requests", async () => {
    const { club } = auth.world.ids
    const of = { appId: app, clubId: club }
    const at = new Date()
    await db().storageChange.createMany({
      data: [1, 2, 3, 4, 5].map((number) => ({ ...of, owner: '', collection: 'c', number, key: `${number}`, at })),
    })
    const request = {
      ...of,
      memberId: '',
      clientId: client,
      method: 'POST',
      hash: Buffer.alloc(32),
      outcomes: ['found'],
      versions: [crypto.randomUUID()],
      used: 0,
    }
    await db().storageRequest.createMany({
      data: [1, 2, 3].map((number) => ({ ...request, key: `${number}`, number, createdAt: at })),
    })
    await api().apps.remove({ app, confirm: 'Short lived' })
    await db().app.update({ where: { id: app }, data: { endsAt: END } })
    const count = async () =>
      (await db().storageChange.count({ where: of })) + (await db().storageRequest.count({ where: of }))
    let left = await count()
    expect(left).toBeGreaterThanOrEqual(8)
    while ((await removeEnded(db(), END.getTime(), 2)) > 0) {
      const before = left
      left = await count()
      expect(before - left).toBeLessThanOrEqual(2)
    }
    expect([left, await appNow()]).toEqual([0, null])
  })

  it('cannot be undone once its time is over, even before anything is removed', async () => {
    await api().apps.remove({ app, confirm: 'Short lived' })
    await db().app.update({ where: { id: app }, data: { endsAt: new Date(auth.world.core.now()) } })
    const before = await stored()
    expect((await readRefusal(api().apps.restore({ app }))).status).toBe(404)
    expect(await stored()).toEqual(before)
  })
})

describe('developer.teams.remove', () => {
  it('stops all apps and clients of the team, and an owner restores those that it has stopped', async () => {
    const suspended = await api().apps.create({ team, name: 'Suspended', provider: auth.world.ids.provider })
    await db().app.update({ where: { id: suspended.id }, data: { state: 'suspended' } })
    await db().client.update({ where: { id: client }, data: { appId: null } })
    await api().teams.remove({ team, confirm: 'Enders' })
    auth.world.advance(5)
    expect((await call()).status).toBe(401)
    expect(await api().apps.get({ app })).toMatchObject({ state: 'suspended' })
    expect(await readRefusal(api().apps.restore({ app }))).toMatchObject({ status: 409, reason: 'team_ending' })
    await api().teams.restore({ team })
    auth.world.advance(5)
    expect((await call()).status).toBe(200)
    expect(await api().apps.get({ app })).toMatchObject({ state: 'active', endsAt: null })
    expect(await api().apps.get({ app: suspended.id })).toMatchObject({ state: 'suspended', endsAt: null })
  })

  it('needs an owner and the name, and changes nothing else', async () => {
    const before = await stored()
    expect((await readRefusal(api().teams.remove({ team, confirm: 'enders' }))).status).toBe(409)
    expect((await readRefusal(people.as(people.colleague).teams.remove({ team, confirm: 'Enders' }))).status).toBe(403)
    expect((await readRefusal(people.as(people.stranger).teams.remove({ team, confirm: 'Enders' }))).status).toBe(404)
    expect(await stored()).toEqual(before)
  })

  it('is final after 7 days: with apps, people’s roles, test club and log, and no other team', async () => {
    const { testMembers } = await api().teams.get({ team })
    const others = () => db().team.findUnique({ where: { id: people.strangers }, include: { people: true } })
    const before = await others()
    await api().teams.remove({ team, confirm: 'Enders' })
    await db().team.update({ where: { id: team }, data: { endsAt: END } })
    await clean(END.getTime())
    expect(await stored()).toEqual({ teams: [], apps: [] })
    expect(await db().organisation.count({ where: { testTeamId: team } })).toBe(0)
    expect(await db().person.count({ where: { id: { in: testMembers.map((one) => one.id) } } })).toBe(0)
    expect(await db().auditEntry.count({ where: { teamId: team } })).toBe(0)
    expect(await others()).toEqual(before)
  })
})

describe('after a restore', () => {
  it('deletions are repeated, and so are restorations', async () => {
    const repeats: Parameters<typeof repeatRemoval>[1][] = []
    const { removed } = auth.world.core
    auth.world.core.removed = (removal) => void repeats.push(removal)
    await api().apps.remove({ app, confirm: 'Short lived' })
    const deleted = await stored()
    await api().apps.restore({ app })
    await api().teams.remove({ team, confirm: 'Enders' })
    auth.world.core.removed = removed
    expect(repeats.map(({ repeat }) => repeat)).toEqual(['app.ending', 'app.ending', 'team.ending'])
    await api().teams.restore({ team })
    const [remove, restore, removeTeam] = repeats
    expect(await repeatRemoval(db(), remove!, async () => [])).toBe(true)
    expect((await stored()).apps.find((one) => one.id === app)?.endsAt).toEqual(
      deleted.apps.find((one) => one.id === app)?.endsAt,
    )
    expect(await repeatRemoval(db(), restore!, async () => [])).toBe(true)
    expect((await appNow())?.state).toBe('active')
    expect(await repeatRemoval(db(), removeTeam!, async () => [])).toBe(true)
    expect((await appNow())?.state).toBe('suspended')
    await db().team.delete({ where: { id: team } })
    for (const removal of repeats) expect(await repeatRemoval(db(), removal, async () => [])).toBe(false)
  })
})
