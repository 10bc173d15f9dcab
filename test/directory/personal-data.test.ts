import fc from 'fast-check'
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { callAs } from '../../routers/core.ts'
import { appRouter } from '../../routers/index.ts'
import type { Call } from '../../routers/kernel/context.ts'
import { Deadline } from '../../routers/kernel/deadline.ts'
import { firstPartyScopes } from '../../routers/kernel/scopes.ts'
import { createCallerFactory } from '../../routers/kernel/trpc.ts'
import { personalDataJson } from '../../routers/personal-data/export.ts'
import { lists as sections } from '../../routers/personal-data/sections.ts'
import { formatBody } from '../../routers/webhooks/deliveries/request.ts'
import { BUDGET_BYTES } from '../../server/http/memory-budget.ts'
import { ask } from '../support/ask.ts'
import { codePoint } from '../support/code-point.ts'
import { cascades } from '../support/directory-page.ts'
import { meanwhile } from '../support/meanwhile.ts'
import { ownTenant } from '../support/own-tenant.ts'
import { asPlatform, platformClaims, platformClient, readRefusal } from '../support/platform.ts'
import { times } from '../support/rounds.ts'
import { started } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { suiteLimits } from '../support/time-limits.ts'
import { startWorld } from '../support/world.ts'
import { addEntry, mintPerson } from './person-rows.ts'

let url: string
const world = started(async () => {
  const own = await ownTenant(afterAll)
  url = own.databaseUrl
  return startWorld(own)
})

const exportPerson = (person: string) => platformClient(world).directory.people.export.query({ id: person })
const erase = (person: string) => platformClient(world).directory.people.erase.mutate({ id: person })
const scopes = new Set(firstPartyScopes)
const TOO_LARGE = {
  status: 413,
  message: 'This person has more than 16 MiB of data. Export it with member-apps member.',
}
const UNKNOWN = { status: 404, code: 'not_found', message: 'This person does not exist.' }

/** Adds entries of one digit, and of 450 bytes in the export, for one test. Without triggers, which take a millisecond for each. */
async function addEntries(person: string, scope: 'user' | 'org', count: number) {
  const { app, club } = world.ids
  const withoutTriggers = (sql: string, values: unknown[]) =>
    world.db.inTransaction(async (client) => {
      await client.query('SET LOCAL session_replication_role = replica')
      await client.query(sql, values)
    })
  const [owner, member, author] = scope === 'user' ? [person, person, null] : ['', null, person]
  await withoutTriggers(
    `INSERT INTO "StorageEntry" ("appId", "clubId", owner, "memberId", "createdBy", "updatedBy", collection, key, value, version,
        "updatedAt")
      SELECT $1, $2, $3, $4, $5, $5, repeat('c', 64), lpad(n::text, 255, 'k'), '1', gen_random_uuid(), now()
      FROM generate_series(1, $6::int) n`,
    [app, club, owner, member, author, count],
  )
  onTestFinished(() =>
    withoutTriggers(
      `DELETE FROM "StorageEntry" WHERE "appId" = $1 AND "clubId" = $2 AND owner = $3 AND collection = repeat('c', 64)`,
      [app, club, owner],
    ),
  )
}

/** The rows of all tables that contain the text, by table: in one statement, as Prisma would plan one for each table. */
async function rowsWith(text: string) {
  const tables = await ask(url, `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`)
  const each = tables.map(
    ({ name }) =>
      `SELECT '${name}' COLLATE "C" AS name, one::text AS row FROM "${name}" one WHERE one::text ILIKE '%${text}%'`,
  )
  const rows: { name: string; row: string }[] = await ask(url, `${each.join(' UNION ALL ')} ORDER BY name, row`)
  const found: Record<string, string[]> = {}
  for (const { name, row } of rows) {
    found[name] ??= []
    found[name].push(row)
  }
  return found
}

describe('directory.people.export over HTTP', () => {
  it('returns everything that is stored about a person, and nothing about others', async () => {
    const { ids } = world
    const { personId, exported } = await mintPerson(world)
    await mintPerson(world)
    await addEntry(world.db, { app: ids.app, club: ids.club, owner: '', key: 'shared', value: '1' })
    const before = world.core.now()
    const { exportedAt, ...data } = await exportPerson(personId)
    expect(Date.parse(exportedAt)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(exportedAt)).toBeLessThanOrEqual(world.core.now())
    expect(data).toEqual(exported)
  })

  it('returns empty lists for a person without anything', async () => {
    const person = id('person')
    await world.db.person.create({ data: { id: person, firstName: '', lastName: '', email: '' } })
    const { exportedAt: _, profile, ...lists } = await exportPerson(person)
    expect(profile).toMatchObject({ id: person, birthday: null })
    expect(lists).toEqual(Object.fromEntries(Object.keys(sections).map((name) => [name, []])))
  })

  it('returns 404 for an unknown person', async () => {
    for (const unknown of [id('person'), '', 'x'.repeat(256), 'a\0b']) {
      expect(await readRefusal(exportPerson(unknown))).toMatchObject(UNKNOWN)
    }
  })

  it('returns storage values byte for byte', async () => {
    const text = fc.oneof(
      fc.json(),
      fc.string({ unit: codePoint }).map((one) => JSON.stringify(one).replaceAll('\\u0000', '\\u0001')),
      fc.constantFrom(
        '"\\u0000"',
        '"\\ud800"',
        '1e400',
        '-0',
        ' [ 1 ,\r\n\t2 ] ',
        '{"a":1,"a":2}',
        '9007199254740993',
        '"\u2028"',
        '"</script>"',
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 8 }), async (values) => {
        const { ids, db } = world
        const person = id('person')
        const memberships = { create: { organisationId: ids.club } }
        await db.person.create({ data: { id: person, firstName: '', lastName: '', email: '', memberships } })
        for (const [i, value] of values.entries()) {
          await addEntry(db, { app: ids.app, club: ids.club, owner: person, key: `k${i}`, value })
        }
        const { storage } = await exportPerson(person)
        expect(storage.map(({ value }) => value)).toEqual(values)
      }),
      { numRuns: times(24, 8) },
    )
  })
})

describe('directory.people.export', () => {
  it('has what me/* shows', async () => {
    const { ids } = world
    const { personId } = await mintPerson(world)
    const me = callAs(world.core, world.principal({ member: personId })).me
    const own = await asPlatform(world).directory.people.export({ id: personId })
    const ofClub = <T extends { club: string }>(items: T[]) => items.filter(({ club }) => club === ids.club)
    const { preferredLanguage, ...profile } = own.profile
    expect([profile, preferredLanguage]).toEqual([await me.profile(), 'fr'])
    const ids_ = (items: { id: string }[]) => items.map((item) => item.id)
    expect(ids_(ofClub(own.groups))).toEqual(ids_((await me.groups()).items))
    const start = Date.parse('2025-05-01') / 1000
    expect(ids_(ofClub(own.events))).toEqual(ids_((await me.events({ start })).items))
    expect(ids_(ofClub(own.trainingPlans))).toEqual(ids_((await me.trainingplans()).items))
    const placed = own.competitionResults.filter(({ place }) => place !== null)
    expect(ids_(placed)).toEqual(ids_((await me.competitions()).items))
  })

  it('returns 413 for more than 16 MiB', async () => {
    const { personId } = await mintPerson(world)
    const value = JSON.stringify('x'.repeat(9 * 1024 * 1024))
    const entry = { app: world.ids.app, club: world.ids.club, owner: personId, value }
    await addEntry(world.db, { ...entry, key: 'a' })
    expect((await exportPerson(personId)).storage[0]!.value).toBe(value)
    await addEntry(world.db, { ...entry, key: 'b' })
    expect(await readRefusal(exportPerson(personId))).toMatchObject(TOO_LARGE)
    await erase(personId)
  })

  it('returns 413 for a document of more than 16 MiB, whose values have less', async () => {
    const { personId } = await mintPerson(world)
    // Each quotation mark of the text has two more characters in the document.
    const value = JSON.stringify('"'.repeat(5 * 1024 * 1024))
    await addEntry(world.db, { app: world.ids.app, club: world.ids.club, owner: personId, key: 'a', value })
    expect(await readRefusal(exportPerson(personId))).toMatchObject(TOO_LARGE)
    await erase(personId)
  })

  it.each(['user', 'org'] as const)('returns 413 for more than 16 MiB of small entries of scope %s', async (scope) => {
    const { personId } = await mintPerson(world)
    await addEntries(personId, scope, 40_000)
    expect(await readRefusal(exportPerson(personId))).toMatchObject(TOO_LARGE)
  })

  it('reserves memory for small entries, and returns 503 when too little is free', async () => {
    const { personId } = await mintPerson(world)
    await addEntries(personId, 'org', 8_000)
    const taken = world.memory.freeBytes - 2 * 1024 * 1024
    expect(world.memory.take('another team', taken)).toBe(true)
    expect(await readRefusal(exportPerson(personId))).toMatchObject({ status: 503 })
    world.memory.give('another team', taken)
    expect((await exportPerson(personId)).sharedEntries.length).toBeGreaterThan(8_000)
    await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
  })

  it('reserves no more once the client of a streamed batch has left', async () => {
    const { personId } = await mintPerson(world)
    await addEntries(personId, 'org', 8_000)
    const read = vi.spyOn(world.core.db, 'inTransaction')
    onTestFinished(() => read.mockRestore())
    const left = new AbortController()
    const input = encodeURIComponent(JSON.stringify({ 0: { id: personId } }))
    const address = `http://127.0.0.1:${world.internalPort}/trpc/directory.people.export?batch=1&input=${input}`
    const authorization = `Bearer ${await world.token(platformClaims(world))}`
    const call = () =>
      fetch(address, { headers: { authorization, 'trpc-accept': 'application/jsonl' }, signal: left.signal })
        .then((response) => response.text())
        .catch(() => {})
    // It has reserved memory when it reads this table, and needs more for the entries that follow.
    await meanwhile(world.db, (tx) => tx.$executeRaw`LOCK TABLE "LessonCompletion"`, call, {
      async goOn() {
        expect(world.memory.freeBytes).toBeLessThan(BUDGET_BYTES)
        left.abort()
        await expect.poll(() => world.memory.freeBytes).toBe(BUDGET_BYTES)
      },
    })
    expect(read).toHaveBeenCalledOnce()
    await expect(read.mock.results[0]!.value).rejects.toMatchObject({ status: 503 })
    expect(world.memory.freeBytes).toBe(BUDGET_BYTES)
  })

  it('is read no further when the deadline is over', async () => {
    const { personId } = await mintPerson(world)
    await addEntries(personId, 'org', 8_000)
    const deadline = new Deadline(suiteLimits.requestMs)
    let reservations = 0
    const call = {
      principal: { member: null, organisation: world.ids.provider, client: world.ids.platform, scopes },
      deadline,
      consumeQuota: async () => {},
      // The first is before anything is read, the second in the midst of it.
      async reserve() {
        if (++reservations === 2) Object.defineProperty(deadline, 'isOver', { value: true })
      },
    }
    const caller = createCallerFactory(appRouter)({ core: world.core, call: call as unknown as Call })
    await expect(caller.directory.people.export({ id: personId })).rejects.toMatchObject({ status: 503 })
    expect(reservations).toBe(2)
  })

  it('is read in small pieces', async () => {
    const { personId } = await mintPerson(world)
    const rows = times(5_000, 1_000)
    // In parts: one statement of 5,000 rows may take longer than its 5 s on a busy machine.
    for (let part = 0; part < 5; part++) {
      await world.db.$executeRaw`
        INSERT INTO "StorageEntry" ("appId", "clubId", owner, "memberId", collection, key, value, version, "updatedAt")
        SELECT ${world.ids.app}, ${world.ids.club}, ${personId}, ${personId}, 'many', 'k' || ${part}::int || '-' || i,
          to_json(repeat('x', CASE WHEN i % ${rows / 50}::int = 0 THEN 50000 ELSE ${1_000_000 / rows}::int END))::text,
          gen_random_uuid(), now()
        FROM generate_series(1, ${rows / 5}::int) i`
    }
    const lengths = await world.db.inTransaction(async (client) => {
      const lengths: number[] = []
      for await (const piece of personalDataJson(client, personId, new Date())) lengths.push(piece.length)
      return lengths
    })
    expect(lengths.reduce((sum, length) => sum + length)).toBeGreaterThan(3_000_000)
    expect(Math.max(...lengths)).toBeLessThan(1_500_000)
    expect(lengths.length).toBeLessThan(200)
  })
})

describe('directory.people.erase over HTTP', () => {
  it('removes everything about a person and nothing about others, and says how much', async () => {
    const { ids, db } = world
    const { personId, own } = await mintPerson(world)
    const neighbour = await mintPerson(world)
    const shared = id('k')
    await addEntry(db, { app: ids.app, club: ids.club, owner: '', key: shared, value: '1' })
    const others = await rowsWith(neighbour.personId)
    const withPerson = [...cascades()].filter(([, parents]) => parents.includes('Person')).map(([table]) => table)
    expect(Object.keys(others)).toEqual(expect.arrayContaining(withPerson))

    const { removed } = await erase(personId)
    expect(removed).toEqual({
      storageEntries: 1,
      storageBytes: 21,
      memberships: 4,
      groups: 2,
      competitionResults: 2,
      memberCards: 1,
      quizResults: 1,
      answers: 2,
      lessonCompletions: 1,
      consents: 1,
      signInIdentities: 1,
      teams: 1,
      sessions: 3,
      events: 0,
    })
    // Rows of the platform and of the team that the test named after the person. Audit entries have the team.
    const named = [
      'AuditEntry',
      'ChildRequest',
      'ClubApproval',
      'Competition',
      'Discipline',
      'Event',
      'EventGroup',
      'Exercise',
      'Group',
      'Lesson',
      'Mail',
      'PlanAssignment',
      'Question',
      'Quiz',
      'Team',
      'TeamInvitation',
      'TrainingPlan',
    ]
    expect(Object.keys(await rowsWith(personId))).toEqual(named)
    const approval = await db.clubApproval.findUniqueOrThrow({ where: { id: own('approval') } })
    expect([approval.state, approval.decidedBy]).toEqual(['refused', null])
    const [decided, ...otherRequests] = await db.childRequest.findMany({
      where: { id: { in: [own('r1'), own('r2')] } },
    })
    expect([decided?.id, decided?.state, decided?.decidedBy, otherRequests]).toEqual([own('r2'), 'approved', null, []])
    // The open invitations to their address and from them are gone; the accepted one no longer says who sent it.
    const invitations = await db.teamInvitation.findMany({ where: { teamId: own('team') } })
    expect(invitations).toMatchObject([{ id: own('i3'), email: 'third@example.org', invitedBy: null }])
    expect(await rowsWith(neighbour.personId)).toEqual(others)
    expect(await db.storageEntry.count({ where: { appId: ids.app, owner: '', key: shared } })).toBe(1)
    const [usage] = await db.$queryRaw<{ same: boolean }[]>`
      SELECT bytes = (SELECT sum(octet_length(value)) FROM "StorageEntry" WHERE "appId" = ${ids.app}) AS same
      FROM "StorageUsage" WHERE "appId" = ${ids.app}`
    expect(usage).toEqual({ same: true })
    expect(await readRefusal(exportPerson(personId))).toMatchObject(UNKNOWN)
    expect(await readRefusal(erase(personId))).toMatchObject(UNKNOWN)
  })

  it('returns 404 for an unknown person and removes nothing', async () => {
    const { personId } = await mintPerson(world)
    const before = await rowsWith(personId)
    for (const unknown of ['', personId.slice(1), `${personId} `, '%', 'x'.repeat(256), 'a\0b']) {
      expect(await readRefusal(erase(unknown))).toMatchObject(UNKNOWN)
    }
    expect(await rowsWith(personId)).toEqual(before)
  })
})

describe('directory.people.erase', () => {
  it('runs beside writers of the same store', async () => {
    const { ids, db, core } = world
    const people = await Promise.all(Array.from({ length: 4 }, () => mintPerson(world)))
    const writes = people.flatMap(({ personId: member }) => {
      const { put } = callAs(core, world.principal({ member })).storage
      return Array.from({ length: 20 }, (_, i) =>
        put({ collection: 'c', key: `k${i}`, scope: 'user', value: i }).then(
          () => null,
          (error) => error.status,
        ),
      )
    })
    await Promise.all(people.map(({ personId }) => asPlatform(world).directory.people.erase({ id: personId })))
    const failures = new Set(await Promise.all(writes))
    for (const status of failures) expect([null, 401, 404]).toContain(status)
    const entries = await db.storageEntry.count({
      where: { appId: ids.app, owner: { in: people.map(({ personId }) => personId) } },
    })
    expect(entries).toBe(0)
  })
})

const at = new Date('2025-05-05T12:00:00Z')

/** A person with this address. */
async function person(email: string, personId = id('person')) {
  await world.db.person.create({ data: { id: personId, firstName: 'Anna', lastName: 'Berger', email } })
  return personId
}
const eraseInProcess = (personId: string) => asPlatform(world).directory.people.erase({ id: personId })

describe('an erased person', () => {
  it('is reported to the log, to be erased again after a restore, and an unknown one is not', async () => {
    const personId = await person('')
    const removals: unknown[] = []
    const core = { ...world.core, removed: (...one: unknown[]) => void removals.push(one) }
    const { people } = asPlatform({ ...world, core }).directory
    const { removed } = await people.erase({ id: personId })
    await expect(people.erase({ id: personId })).rejects.toMatchObject({ status: 404 })
    expect(removals).toEqual([[{ repeat: 'member.erase', person: personId }, { removed }]])
  })

  it('leaves no address in texts of teams, whose longer addresses and other texts stay', async () => {
    const { db, ids } = world
    const address = `${id('a.b+c-d')}@example.org`
    const longer = [`x${address}`, `x.${address}`, `${address}.uk`, `${address}-x`, `é${address}`]
    const text = (one: string) => `Ask <${one}>, or\n${one.toUpperCase()}. Not ${longer.join(' ')}`
    const values = (one: string) => ({ list: [text(one), 1, null, true], more: { text: text(one) } })
    const teamId = id('team')
    await db.team.create({ data: { id: teamId, name: text(address), level: 'hobby' } })
    const before = { name: text(address), wanted: values(address) }
    const app = { ...before, description: text(address), homepage: `https://example.org/?to=${address}` }
    const ofTeam = { teamId, providerId: ids.provider }
    const [appId, clientId, other] = [id('app'), id('client'), id('client')]
    await db.app.create({ data: { id: appId, ...ofTeam, ...app } })
    const client = { environment: 'sandbox' as const, teamId, appId }
    await db.client.create({ data: { id: clientId, ...client, ...before, purpose: { a: text(address) } } })
    await db.client.create({ data: { id: other, ...client, name: longer.join(' ') } })

    await eraseInProcess(await person(address))
    const after = { name: text('(erased)').replace('(ERASED)', '(erased)') }
    const changed = JSON.parse(JSON.stringify(values('(erased)')).replaceAll('(ERASED)', '(erased)'))
    expect(await db.team.findUnique({ where: { id: teamId } })).toMatchObject(after)
    expect(await db.app.findUnique({ where: { id: appId } })).toMatchObject({
      ...after,
      wanted: changed,
      description: after.name,
      homepage: 'https://example.org/?to=(erased)',
      version: 1,
    })
    const found = await db.client.findUnique({ where: { id: clientId } })
    expect(found).toMatchObject({ ...after, wanted: changed, purpose: { a: after.name }, version: 1 })
    expect(await db.client.findUnique({ where: { id: other } })).toMatchObject({ name: longer.join(' '), version: 0 })
  })

  it('whose address is shorter than what replaces it leaves texts within their limits', async () => {
    const { db, ids } = world
    const appId = id('app')
    await db.app.create({ data: { id: appId, teamId: ids.team, providerId: ids.provider, name: 'App' } })
    const approval = { id: id('approval'), organisationId: ids.club, appId, state: 'refused' as const, decidedAt: at }
    const rest = ` ${'x'.repeat(493)}`
    await db.clubApproval.create({ data: { ...approval, reason: `a@b.de${rest}` } })
    await eraseInProcess(await person('a@b.de'))
    const { reason } = await db.clubApproval.findUniqueOrThrow({ where: { id: approval.id } })
    expect(reason).toBe(`…${rest}`)
  })

  it('is no longer named in audit entries, which stay', async () => {
    const { db, ids } = world
    const address = `${id('anna')}@example.org`
    const [anna, ben] = [await person(address), await person(`${id('ben')}@example.org`)]
    const teamId = ids.team
    const entry = { teamId, at, action: 'client.update' }
    const values = { before: { purpose: { a: `Ask ${address}` } }, after: { n: 1 } }
    await db.auditEntry.createMany({
      data: [
        { ...entry, personId: anna, target: 'c_1', ...values },
        { ...entry, personId: ben, action: 'person.setRole', target: anna },
        // The id of a client, which may be that of a person too.
        { ...entry, personId: ben, target: anna },
        { ...entry, personId: null, target: 'c_1', after: { name: address } },
      ],
    })
    const stored = () =>
      db.auditEntry.findMany({
        where: { teamId, at },
        orderBy: { id: 'asc' },
        omit: { id: true, at: true, teamId: true, clientId: true },
      })
    const { teamChanges } = await asPlatform(world).directory.people.export({ id: anna })
    expect(teamChanges.map(({ own, action, target }) => [own, action, target])).toEqual([
      [true, 'client.update', 'c_1'],
      [false, 'person.setRole', anna],
    ])
    await eraseInProcess(anna)
    const none = { before: null, after: null }
    expect(await stored()).toEqual([
      { personId: '', action: 'client.update', target: 'c_1', ...values, before: { purpose: { a: 'Ask (erased)' } } },
      { personId: ben, action: 'person.setRole', target: '', ...none },
      { personId: ben, action: 'client.update', target: anna, ...none },
      { personId: null, action: 'client.update', target: 'c_1', before: null, after: { name: '(erased)' } },
    ])
  })
})

async function publish(data: string, event = id('event')) {
  const { db, ids } = world
  const body = formatBody({ id: event, type: 't', publishedAt: at.toISOString() }, data)
  await db.publishedEvent.create({ data: { appId: ids.app, id: event, type: 't', body, publishedAt: at } })
  return event
}

describe('one of two people who share an address', () => {
  const invite = (email: string, personId: string | null, acceptedAt: Date | null = null) => {
    const invitation = { id: id('invitation'), teamId: world.ids.team, role: 'developer' as const }
    return world.db.teamInvitation.create({ data: { ...invitation, email, personId, expiresAt: at, acceptedAt } })
  }

  it('is exported and erased without what the other has, which goes with the last of them', async () => {
    const { db, ids } = world
    const address = `${id('familie')}@example.org`
    const mother = await person(address.replace('familie', 'Familie'))
    const child = await person(address)
    await invite(address, mother, at)
    const { id: invitationId } = await invite(address, null)
    const mail = { id: id('mail'), kind: 'invitation' as const, language: 'de' as const, createdAt: at, about: {} }
    await db.mail.create({ data: { ...mail, teamId: ids.team, email: address, invitationId } })
    const code = { interaction: id('page'), email: address, hash: '', sender: '', sentAt: at, expiresAt: at }
    await db.loginCode.create({ data: code })
    const page = { model: 'Interaction', id: id('page'), payload: { params: { login_hint: address } } }
    await db.oauthRecord.create({ data: page })
    const ofTeam = { teamId: ids.team, providerId: ids.provider }
    await db.app.create({ data: { id: id('app'), ...ofTeam, name: `Ask ${address}` }, select: { id: true } })
    await publish(JSON.stringify({ member: mother, to: address }))
    const ofMother = await rowsWith(address)
    delete ofMother.Person
    expect(Object.values(ofMother).map(({ length }) => length)).toEqual([1, 1, 1, 1, 1, 2])
    await invite(address, child, at)

    const exported = await asPlatform(world).directory.people.export({ id: child })
    expect([exported.teamInvitations.length, exported.teamInvitations[0]?.own, exported.mails]).toEqual([1, true, []])
    expect((await eraseInProcess(child)).removed.events).toBe(0)
    const { Person: people, ...others } = await rowsWith(address)
    expect([people?.length, others]).toEqual([1, ofMother])

    const last = await asPlatform(world).directory.people.export({ id: mother })
    expect([last.teamInvitations.map(({ own }) => own), last.mails.length]).toEqual([[true, true], 1])
    await eraseInProcess(mother)
    expect(await rowsWith(address)).toEqual({})
  })
})

describe('the published events', () => {
  const kept = async (events: string[]) => {
    const rows = await world.db.publishedEvent.findMany({ where: { id: { in: events } }, select: { id: true } })
    return events.filter((event) => rows.some(({ id }) => id === event))
  }

  it('that name an erased person go with their deliveries, in whatever spelling, and others stay', async () => {
    const { db, ids } = world
    const personId = `${id('jörg/')}"\\🎾`
    const email = `${id('Jörg')}@Example.org`
    await person(email, personId)
    const inAscii = (text: string) =>
      JSON.stringify(text).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    const upper = inAscii(personId).replace(/\\u[\da-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`)
    const named = await Promise.all([
      publish(JSON.stringify({ member: personId })),
      publish(JSON.stringify([{ [personId]: 1 }])),
      publish(`{"a":[ ${inAscii(personId)} ]}`),
      publish(`{"a":${upper.replaceAll('/', '\\/')}}`),
      publish(JSON.stringify({ to: email })),
      publish(JSON.stringify({ to: email.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) })),
      publish(JSON.stringify({ to: email.toUpperCase() })),
      publish(`{"to":${inAscii(email.toUpperCase())}}`),
    ])
    const others = await Promise.all([
      publish(JSON.stringify({ member: `${personId}2`, note: `About ${personId}.` })),
      publish(JSON.stringify({ to: `x${email}` })),
      publish(JSON.stringify({ member: personId.toUpperCase() })),
    ])
    const subscription = { id: id('subscription'), appId: ids.app, subscriber: 's', url: 'https://hooks.example/' }
    await db.subscription.create({ data: subscription })
    const states = [
      { state: 'pending' as const, nextAttemptAt: at },
      { state: 'pending' as const, nextAttemptAt: at, lease: 'worker', leasedUntil: at },
      { state: 'delivered' as const, lastAnswer: personId },
    ]
    const of = { appId: ids.app, subscriptionId: subscription.id, createdAt: at }
    await db.delivery.createMany({
      data: [named[0]!, others[0]!].flatMap((eventId) =>
        states.map((state) => ({ ...of, ...state, id: id('delivery'), eventId })),
      ),
    })
    const { removed } = await eraseInProcess(personId)
    expect(removed.events).toBe(named.length)
    expect(await kept([...named, ...others])).toEqual(others)
    const deliveries = await db.delivery.findMany({ where: { subscriptionId: subscription.id } })
    expect(deliveries.map(({ eventId }) => eventId)).toEqual([others[0], others[0], others[0]])
  })

  it('are looked through batch by batch, to the last', async () => {
    const { db, ids } = world
    const personId = await person('')
    // 2,500 at three moments: more than a batch at one of them.
    await db.$executeRaw`INSERT INTO "PublishedEvent" ("appId", id, type, body, "publishedAt")
      SELECT ${ids.app}, ${personId} || '-' || i, 't',
        json_build_object('member', CASE WHEN i % 500 = 0 THEN ${personId} ELSE 'other' END)::text,
        '2025-01-01'::timestamptz + (i / 1200) * interval '1 ms' FROM generate_series(1, 2500) i`
    expect((await eraseInProcess(personId)).removed.events).toBe(5)
    expect(await db.publishedEvent.count({ where: { id: { startsWith: personId } } })).toBe(2_495)
  })

  it('of an unknown person stay', async () => {
    const event = await publish('{"member":"ghost"}')
    await expect(eraseInProcess('ghost')).rejects.toMatchObject({ status: 404 })
    expect(await kept([event])).toEqual([event])
  })
})

describe('an audit entry', () => {
  it('is changed by nothing but an erasure, which only empties it', async () => {
    const { db, ids } = world
    const personId = await person('')
    const data = { teamId: ids.team, personId, action: 'person.join', target: personId, at }
    const { id: entry } = await db.auditEntry.create({ data })
    const update = (set: string, erasing: boolean) =>
      db.inTransaction(async (client) => {
        if (erasing) await client.query(`SET LOCAL audit.erase = 'on'`)
        await client.query(`UPDATE "AuditEntry" SET ${set} WHERE id = $1`, [entry])
      })
    const refused = 'Audit entries are never changed.'
    await expect(update(`"personId" = ''`, false)).rejects.toThrow(refused)
    for (const set of [`"personId" = 'other'`, `"personId" = NULL`, `target = 'other'`, `action = 'x'`, 'at = now()']) {
      await expect(update(set, true), set).rejects.toThrow(refused)
    }
    expect(await db.auditEntry.findUnique({ where: { id: entry } })).toMatchObject(data)
    await eraseInProcess(personId)
    expect(await db.auditEntry.findUnique({ where: { id: entry } })).toMatchObject({
      ...data,
      personId: '',
      target: '',
    })
  })
})
