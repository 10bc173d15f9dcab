import { describe, expect, it } from 'vitest'
import { removeMostConsents } from '../../routers/developer/clients/removal.ts'
import { recordTypeNames } from '../../routers/directory/record-types.ts'
import { removeClient } from '../../server/admin/clients.ts'
import { addCopies, addTokens, refusingMore } from '../oauth/more-consents.ts'
import { asPlatform } from '../support/platform.ts'
import { id } from '../support/tenant.ts'
import { eventsRead, profileRead, redirect, teamWorld } from './team-world.ts'

const here = teamWorld()

const as = () => here.as(here.owner)
const team = () => here.world.ids.team
const app = () => here.world.ids.app
const latest = async () => (await as().audit.list({ team: team(), limit: 1 })).items[0]!
const purpose = { [profileRead]: 'Greeting', [eventsRead]: 'Reminders' }

describe('a team', () => {
  it('is shown with its people, invitations, apps, clients and test members', async () => {
    const { id: client } = await here.sandbox()
    const { id: invitation } = await as().people.invite({ team: team(), email: 'Jo@example.org', role: 'developer' })
    const shown = await here.as(here.colleague).teams.get({ team: team() })
    expect(shown).toMatchObject({ id: team(), name: 'Team', level: 'developer', role: 'developer' })
    expect(shown.people.map(({ id, role }) => [id, role]).toSorted()).toEqual(
      [
        [here.owner, 'owner'],
        [here.colleague, 'developer'],
      ].toSorted(),
    )
    expect(shown.invitations).toMatchObject([{ id: invitation, email: 'jo@example.org', invitedBy: 'Dev owner' }])
    const apps = await here.world.db.app.findMany({ where: { teamId: team() }, select: { id: true } })
    expect(shown.apps.map(({ id }) => id).toSorted()).toEqual(apps.map(({ id }) => id).toSorted())
    expect(shown.apps.find(({ id }) => id === app())).toMatchObject({ name: 'App', wanted: null })
    expect(shown.clients.map((one) => one.id)).toContain(client)
    expect(shown.testMembers.map(({ name }) => name)).toEqual(['Alex Test', 'Kim Test', 'Robin Test'])
    expect(await as().teams.list()).toEqual({
      items: [{ id: team(), name: 'Team', level: 'developer', role: 'owner', endsAt: null }],
    })
  })

  it('lists people, apps and clients by pages, and each of them alone', async () => {
    const { id: client } = await here.sandbox({ name: 'AA first' })
    const { people, apps, clients } = as()
    const first = await people.list({ team: team(), limit: 1 })
    const second = await people.list({ team: team(), limit: 1, offset: 1 })
    expect([first.more, second.more]).toEqual([true, false])
    for (const one of [...first.items, ...second.items]) {
      expect(await people.get({ team: team(), person: one.id })).toEqual(one)
    }
    const { apps: allApps, clients: allClients, people: all, ...facts } = await as().teams.get({ team: team() })
    expect([...first.items, ...second.items]).toEqual(all)
    expect(first.invitations).toEqual(facts.invitations)
    // Other tests add providers to the platform: compare this test's own.
    const ours = ({ id }: { id: string }) => id === here.world.ids.provider
    const { items: providers } = await apps.providers({ team: team() })
    expect(providers.filter(ours)).toEqual(facts.providers.filter(ours))
    const { id, name, level, role, endsAt, scopes } = facts
    expect(await as().teams.summary({ team: team() })).toEqual({ id, name, level, role, endsAt, scopes })

    const listed = await apps.list({ team: team(), limit: 200 })
    expect(listed).toMatchObject({ items: allApps.map(({ id, name, state }) => ({ id, name, state })), more: false })
    expect(await apps.get({ app: app() })).toEqual(allApps.find(({ id }) => id === app()))
    expect(await clients.get({ client })).toEqual({
      ...allClients.find(({ id }) => id === client),
      members: 0,
      secrets: [],
    })
    const listIds = async (changes: object) =>
      (await clients.list({ team: team(), limit: 200, ...changes })).items.map(({ id }) => id)
    expect(await listIds({})).toEqual(allClients.map(({ id }) => id))
    expect(await listIds({ limit: 1 })).toEqual([client])
    const of = (wanted: (string | null)[]) => allClients.flatMap(({ id, app }) => (wanted.includes(app) ? id : []))
    for (const wanted of [[app()], [null], [app(), null], []])
      expect(await listIds({ apps: wanted })).toEqual(of(wanted))
  })

  it('tells the names of what its audit log, refused requests and usage are about', async () => {
    const { db } = here.world
    const { id: client } = await here.sandbox({ name: 'Named' })
    const gone = id('client')
    expect(await latest()).toMatchObject({ target: client, targetName: 'Named' })
    const at = new Date(here.world.now() * 1000 - 60_000)
    const of = { teamId: team(), at }
    const refused = { ...of, requestId: id('request'), method: 'GET', route: '/r', status: 404, error: 'e', ms: 1 }
    await db.refusedRequest.createMany({ data: [client, gone].map((clientId) => ({ ...refused, clientId })) })
    const { items } = await as().requests.list({ team: team() })
    expect(Object.fromEntries(items.map((one) => [one.client, one.clientName]))).toEqual({
      [client]: 'Named',
      [gone]: null,
    })
    const counts = { ...of, span: 'minute' as const, refused: 0, limited: 0 }
    await db.clientUsage.createMany({
      data: [
        { ...counts, clientId: gone, ok: 1 },
        { ...counts, clientId: client, ok: 2 },
      ],
    })
    const named = { refused: 0, limited: 0 }
    expect((await as().usage({ team: team() })).clients).toEqual([
      { client, name: 'Named', ok: 2, ...named },
      { client: gone, name: null, ok: 1, ...named },
    ])
    expect((await as().usage({ team: team(), client: gone })).clients).toEqual([
      { client: gone, name: null, ok: 1, ...named },
    ])
  })

  it('has one test club, academy and provider, of which the platform is shown nothing', async () => {
    await Promise.all([here.sandbox(), here.sandbox()])
    const { db } = here.world
    const clubs = await db.organisation.findMany({ where: { testTeamId: team() } })
    expect(clubs.map(({ kind }) => kind).toSorted()).toEqual(['academy', 'club', 'provider'])
    const { testMembers } = await as().teams.get({ team: team() })
    const [club, academy] = ['club', 'academy'].map((kind) => clubs.find((one) => one.kind === kind)!.id)
    const person = testMembers[0]!.id
    const { directory } = asPlatform(here.world)
    // What comes behind the id that is just before.
    const before = (one: string) => one.slice(0, -1)
    const inClub = await Promise.all(
      (['group', 'calendar', 'event', 'trainingPlan'] as const).map((table) =>
        (db[table] as typeof db.event).findFirstOrThrow({ where: { clubId: club! } }),
      ),
    )
    const ids: Partial<Record<keyof typeof directory, string>> = {
      organisations: club!,
      people: person,
      groups: inClub[0]!.id,
      calendars: inClub[1]!.id,
      events: inClub[2]!.id,
      trainingPlans: inClub[3]!.id,
      disciplines: `${club}-100m`,
      competitions: `${club}-open`,
      results: `${club}-result-1`,
      memberCards: `${club}-card-1`,
      lessons: `${academy}-lesson`,
      quizzes: `${academy}-choice-quiz`,
    }
    for (const [kind, id] of Object.entries(ids)) {
      const { list } = directory[kind as 'organisations']
      expect([kind, JSON.stringify(await list({ limit: 1, after: before(id) }))]).toEqual([
        kind,
        expect.not.stringContaining(id),
      ])
    }
    const listed = await Promise.all([
      directory.memberships.list({ limit: 1, after: { organisation: club!, person: before(person) } }),
      directory.groupMembers.list({ limit: 1, after: { group: ids.groups!, person: before(person), role: 'member' } }),
      directory.guardians.list({ limit: 1, after: { child: before(person), guardian: person } }),
    ])
    expect(JSON.stringify(listed)).not.toContain(club)
    expect(JSON.stringify(listed)).not.toContain(person)
    expect(Object.keys(ids).length + 3).toBe(recordTypeNames.length)
  })

  it('keeps an owner when two end each other, whoever writes', async () => {
    const { db } = here.world
    const [mine, a, b] = [id('team'), id('a'), id('b')]
    await db.team.create({ data: { id: mine, name: 'Two', level: 'hobby' } })
    await db.person.createMany({
      data: [a, b].map((one) => ({ id: one, firstName: 'O', lastName: 'O', email: '' })),
    })
    await db.teamMember.createMany({
      data: [a, b].map((personId) => ({ teamId: mine, personId, role: 'owner' as const })),
    })
    const each = await Promise.allSettled([
      here.as(a).people.setRole({ team: mine, person: b, role: 'developer' }),
      here.as(b).people.remove({ team: mine, person: a }),
    ])
    expect(each.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const of = { teamId: mine }
    await expect(db.teamMember.deleteMany({ where: of })).rejects.toThrow('keeps at least one owner')
    await expect(db.teamMember.updateMany({ where: of, data: { role: 'developer' } })).rejects.toThrow('one owner')
    expect(await db.teamMember.count({ where: { ...of, role: 'owner' } })).toBe(1)
    await db.team.delete({ where: { id: mine } })
  })
})

describe('an app', () => {
  it('that no member uses changes at once', async () => {
    const made = await as().apps.create({ team: team(), name: 'Planner', provider: here.world.ids.provider })
    expect(made.id).toMatch(/^a_[a-z]{20}$/)
    const changed = await as().apps.update({ app: made.id, name: 'Plans', homepage: 'https://plans.example/' })
    expect(changed).toMatchObject({ name: 'Plans', homepage: 'https://plans.example/', wanted: null, version: 1 })
    expect(await latest()).toMatchObject({
      by: { id: here.owner, name: 'Dev owner' },
      action: 'app.update',
      target: made.id,
      before: { name: 'Planner', homepage: null },
    })
  })

  const changes = { name: 'Other', homepage: 'https://other.example/', description: 'New' }

  it('that members use keeps name, homepage and description until these are approved', async () => {
    const client = await here.production()
    const changed = await as().apps.update({ app: app(), ...changes })
    expect(changed).toMatchObject({ name: 'App', homepage: null, description: null, wanted: changes })
    const back = await as().apps.update({ app: app(), name: 'App', homepage: '', description: '' })
    expect(back.wanted).toBeNull()
    await here.world.db.client.delete({ where: { id: client } })
  })

  it('with a client that waits for approval keeps what the operator reads', async () => {
    const { id: client } = await here.sandbox()
    const requested = await as().clients.requestProduction({ client, purpose })
    const changed = await as().apps.update({ app: app(), ...changes })
    expect(changed).toMatchObject({ name: 'App', homepage: null, description: null, wanted: changes })
    await as().clients.remove({ client: requested.id, confirm: requested.id })
  })

  it('whose description members read loses it at once', async () => {
    await as().apps.update({ app: app(), description: 'Plans' })
    const client = await here.production()
    const { description, wanted } = await as().apps.update({ app: app(), description: '' })
    expect([description, wanted?.description]).toEqual([null, undefined])
    await here.world.db.client.delete({ where: { id: client } })
  })
})

describe('a client', () => {
  it('has an id of ours, and changes at once while it is for tests', async () => {
    const made = await here.sandbox({ redirectUris: ['http://localhost:5173/'] })
    expect(made).toMatchObject({ environment: 'sandbox', testOnly: true, state: 'active', version: 0 })
    expect(made.id).toMatch(/^c_[a-z]{20}$/)
    const changes = { name: 'Other', redirectUris: ['https://elsewhere.example/'], scopes: [eventsRead] }
    const changed = await as().clients.update({ client: made.id, version: 0, ...changes })
    expect(changed).toMatchObject({ ...changes, version: 1, wanted: null })
    expect(await latest()).toMatchObject({ action: 'client.update', target: made.id, after: changes })
  })

  it('in production is a new one that waits, with what each scope is for', async () => {
    const sandbox = await here.sandbox({ scopes: [profileRead, eventsRead] })
    const made = await as().clients.requestProduction({ client: sandbox.id, purpose })
    expect(made).toMatchObject({ state: 'requested', environment: 'production', testOnly: false, purpose })
    expect(made.requestedAt).toBeTypeOf('number')
    expect(made.id).not.toBe(sandbox.id)
    const { clients } = await as().teams.get({ team: team() })
    expect(clients.find((one) => one.id === sandbox.id)).toEqual(sandbox)
  })

  it('that members use may return to a host that it has, and waits with another one', async () => {
    const client = await here.production()
    const same = [redirect, 'https://app.example/other']
    const first = await as().clients.update({ client, version: 0, redirectUris: same })
    expect(first).toMatchObject({ redirectUris: same, wanted: null })
    const requested = ['https://app.example/other', 'https://evil.example/']
    const second = await as().clients.update({ client, version: 1, redirectUris: requested })
    expect(second).toMatchObject({ redirectUris: [requested[0]], wanted: { redirectUris: requested } })
    const moved = await as().clients.update({ client, version: 2, redirectUris: [requested[1]!] })
    expect(moved).toMatchObject({ redirectUris: [requested[0]], wanted: { redirectUris: [requested[1]] } })
    const back = await as().clients.update({ client, version: 3, redirectUris: [requested[0]!] })
    expect(back).toMatchObject({ redirectUris: [requested[0]], wanted: null })
  })

  it('that members use loses scopes at once, and waits for more', async () => {
    const client = await here.production({ scopes: [profileRead, eventsRead] })
    const fewer = await as().clients.update({ client, version: 0, scopes: [eventsRead] })
    expect(fewer).toMatchObject({ scopes: [eventsRead], wanted: null })
    const changes = { scopes: [eventsRead, 'svc.me.groups:read'], purpose: { 'svc.me.groups:read': 'Lists' } }
    const more = await as().clients.update({ client, version: 1, ...changes })
    expect(more).toMatchObject({ scopes: [eventsRead], wanted: { scopes: changes.scopes, purpose: changes.purpose } })
  })

  it('with consents in force is removed by its id, and they end', async () => {
    const { db, ids } = here.world
    const { id: client } = await here.sandbox()
    const of = { personId: ids.member, organisationId: ids.club, clientId: client, scopes: [] }
    await db.consent.create({ data: { id: id('grant'), ...of } })
    const removals: unknown[] = []
    const core = { ...here.world.core, removed: (...one: unknown[]) => void removals.push(one) }
    const { clients } = asPlatform({ ...here.world, core }, { member: here.owner }).developer
    await expect(clients.remove({ client, confirm: 'x' })).rejects.toMatchObject({ status: 409 })
    expect(await clients.remove({ client, confirm: client })).toEqual({ id: client, consents: 1 })
    expect(removals).toEqual([[{ repeat: 'client.remove', client }]])
    expect(await db.consent.count({ where: { clientId: client } })).toBe(0)
    expect(await latest()).toMatchObject({ action: 'client.remove', target: client, before: { consents: 1 } })
  })

  it('with many consents is removed in portions, by its team and by the operator', async () => {
    const { db, ids } = here.world
    const { id: client } = await here.sandbox()
    const { id: other } = await here.sandbox()
    for (const clientId of [client, other]) {
      const consent = { id: id('grant'), personId: ids.member, organisationId: ids.club, clientId, scopes: [] }
      await db.consent.create({ data: consent })
      await db.consent.create({ data: { ...consent, id: id('grant'), withdrawnAt: new Date() } })
      await db.oauthRecord.create({ data: { model: 'Grant', id: consent.id, payload: { iat: 1, clientId } } })
      await addCopies(db, consent.id, 12_000)
    }
    await db.$executeRaw`CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN IF (SELECT count(*) FROM gone) > 5000 THEN RAISE ''more than a portion''; END IF; RETURN NULL; END'`
    await db.$executeRaw`CREATE TRIGGER refuse_many AFTER DELETE ON "Consent" REFERENCING OLD TABLE AS gone
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_many()`
    try {
      expect(await as().clients.remove({ client, confirm: client })).toEqual({ id: client, consents: 12_001 })
      expect(await removeClient(db, other)).toBe(12_001)
    } finally {
      await db.$executeRaw`DROP FUNCTION refuse_many CASCADE`
    }
    const of = { OR: [client, other].map((equals) => ({ payload: { path: ['clientId'], equals } })) }
    expect(await db.oauthRecord.count({ where: of })).toBe(0)
    expect((await latest()).before).toMatchObject({ consents: 12_001 })
  })
  it('a removed consent with many tokens loses these in portions before it goes', async () => {
    const { db, ids } = here.world
    const { id: clientId } = await here.sandbox()
    const consent = { id: id('grant'), personId: ids.member, organisationId: ids.club, clientId, scopes: [] }
    await db.consent.create({ data: consent })
    await addCopies(db, consent.id, 7)
    await addTokens(db, consent.id, 4)
    expect(await refusingMore(db, consent.id, 3, () => removeMostConsents(db, clientId, 0, 3))).toBe(5)
    expect(await db.consent.count({ where: { clientId } })).toBe(3)
    expect(await db.oauthRecord.count({ where: { grantId: { startsWith: consent.id } } })).toBe(0)
  })
})
