import { beforeEach, describe, expect, it } from 'vitest'
import type { Transaction } from '../../prisma/client.ts'
import { mergeRecords } from '../../routers/directory/merge.ts'
import type { RecordTypeName } from '../../routers/directory/record-types.ts'
import { publishMemberEvents } from '../../routers/webhooks/member-events/publish.ts'
import { createDuePoller } from '../../server/webhooks/due-poller.ts'
import { holdApp, meanwhile } from '../support/meanwhile.ts'
import { asPlatform } from '../support/platform.ts'
import { reportingDue } from '../support/reported-due.ts'
import { id } from '../support/tenant.ts'

import { listTypes, meScopes, mintSubscribed } from './member-world.ts'
import type { AnyRecord } from './records.ts'
import { directoryWorld, ofKind, seen, storeSamples } from './records.ts'
import { sampleRecords } from './sample-records.ts'

const world = directoryWorld()

type Samples = ReturnType<typeof sampleRecords>
let samples: Samples
let app: Awaited<ReturnType<typeof mintSubscribed>>
/** The member of the samples, who has allowed the app everything. */
let member: { person: string; organisation: string }
beforeEach(async () => {
  samples = sampleRecords()
  await storeSamples(world, samples)
  app = await mintSubscribed(world)
  member = { person: samples.people.id, organisation: samples.organisations.id }
  await app.consent(member)
})

const upsert = (recordType: RecordTypeName, change: object) =>
  reportingDue(world.core, () =>
    ofKind(world, recordType).upsert({
      items: [{ ...(samples as Record<RecordTypeName, AnyRecord>)[recordType], ...change }],
    }),
  )
const end = (recordType: RecordTypeName, of: unknown) =>
  reportingDue(world.core, () => ofKind(world, recordType).end({ ids: [of] }))
const changed = (...of: string[]) => of.map((what) => `member.${what}.changed`)

const eraseMember = () => asPlatform(world).directory.people.erase({ id: member.person })

/** Another member of the club, with a consent. */
async function mintNeighbour(more: object = {}) {
  const person = id('person')
  await ofKind(world, 'people').upsert({ items: [{ ...samples.people, id: person, email: '' }] })
  await ofKind(world, 'memberships').upsert({ items: [{ ...samples.memberships, person }] })
  await app.consent({ ...member, person, ...more })
  return person
}

const listMembers = (events: readonly { data: Record<string, string> }[]) =>
  events.map(({ data }) => data.memberId).sort()

describe('a change of what a member sees', () => {
  it.each<[string, string[], () => Promise<unknown>]>([
    ['the profile', ['profile'], () => upsert('people', { firstName: 'Zoé' })],
    ['the name of a group', ['groups'], () => upsert('groups', { name: 'U15' })],
    ['a new role', ['events', 'groups', 'trainingplans'], () => upsert('groupMembers', { role: 'trainer' })],
    ['a group that ends', ['events', 'groups', 'trainingplans'], () => end('groups', samples.groups.id)],
    ['a group that is left', ['events', 'groups', 'trainingplans'], () => end('groupMembers', samples.groupMembers)],
    ['a calendar that ends', ['events'], () => end('calendars', samples.calendars.id)],
    ['the title of an event', ['events'], () => upsert('events', { title: 'Race' })],
    ['an event that becomes a draft', ['events'], () => upsert('events', { state: 'draft' })],
    ['an event that is cancelled', ['events'], () => upsert('events', { state: 'cancelled' })],
    ['a new event', ['events'], () => upsert('events', { id: id('event'), calendar: null })],
    ['an event that ends', ['events'], () => end('events', samples.events.id)],
    ['the exercises of a plan', ['trainingplans'], () => upsert('trainingPlans', { exercises: ['Row'] })],
    ['a plan that is assigned to no group', ['trainingplans'], () => upsert('trainingPlans', { groups: [] })],
    ['a plan that ends', ['trainingplans'], () => end('trainingPlans', samples.trainingPlans.id)],
    ['a discipline that ends', ['competitions'], () => end('disciplines', samples.disciplines.id)],
    ['the name of a competition', ['competitions'], () => upsert('competitions', { name: 'Final' })],
    ['a competition that ends', ['competitions'], () => end('competitions', samples.competitions.id)],
    ['a place', ['competitions'], () => upsert('results', { place: 1 })],
    ['a result that loses its place', ['competitions'], () => upsert('results', { place: null })],
    ['a result that ends', ['competitions'], () => end('results', samples.results.id)],
    ['a card', ['membercard'], () => upsert('memberCards', { status: 'lost' })],
    ['a card without an end', ['membercard'], () => upsert('memberCards', { validUntil: null })],
    ['a newer card', ['membercard'], () => upsert('memberCards', { serial: id('card'), issuedAt: 1_800_000_000 })],
    ['a card that ends', ['membercard'], () => end('memberCards', samples.memberCards.serial)],
  ])('is an event each, once: %s', async (_, expected, change) => {
    const before = await seen(world, samples)
    await change()
    const after = await seen(world, samples)
    const events = await app.heard()
    expect(listTypes(events)).toEqual(changed(...expected))
    const differing = Object.keys(after).filter((path) => JSON.stringify(after[path]) !== JSON.stringify(before[path]))
    expect(expected).toEqual(expect.arrayContaining(differing))
    expect(differing).not.toEqual([])
    for (const { data } of events) {
      expect(data).toEqual({
        organisationId: member.organisation,
        memberId: member.person,
        changedAt: expect.any(String),
      })
    }
    expect(await app.heard()).toEqual([])
  })

  it('is no event when the same records come again, or only with another version', async () => {
    await storeSamples(world, samples)
    for (const recordType of ['people', 'groups', 'groupMembers', 'calendars', 'events', 'trainingPlans'] as const) {
      await upsert(recordType, { version: 7 })
    }
    for (const recordType of ['competitions', 'results', 'memberCards'] as const)
      await upsert(recordType, { version: 7 })
    expect(await app.heard()).toEqual([])
  })

  it('is no event when me/* does not show it', async () => {
    await upsert('calendars', { name: 'Other' })
    await upsert('disciplines', { name: 'Other' })
    await upsert('memberCards', { serial: id('card'), issuedAt: 1_600_000_000 })
    await upsert('memberCards', { serial: id('card'), issuedAt: 1_900_000_000, validUntil: null })
    await upsert('results', { id: id('result'), place: null })
    await upsert('events', { id: id('event'), state: 'draft' })
    await upsert('events', { id: id('event'), state: 'cancelled' })
    // me/events does not show it.
    await upsert('events', { allDay: false })
    expect(await app.heard()).toEqual([])
  })

  it('is an event for those alone who see it: before, or after', async () => {
    const neighbour = await mintNeighbour()
    const own = { ...samples.events, id: id('event'), calendar: null }
    const put = (change: object) => ofKind(world, 'events').upsert({ items: [{ ...own, ...change }] })
    await put({})
    expect(listMembers(await app.heard())).toEqual([member.person])
    for (const groups of [[], samples.events.groups]) {
      world.advance(60)
      await put({ groups })
      expect(listMembers(await app.heard())).toEqual([member.person, neighbour].sort())
    }
  })

  it('is an event for each member of the club when a calendar is hidden', async () => {
    const neighbour = await mintNeighbour()
    await upsert('calendars', { visible: false })
    expect(listMembers(await app.heard())).toEqual([member.person, neighbour].sort())
  })

  it('of ten members in a hundred is an event for those ten', async () => {
    const people = Array.from({ length: 100 }, (_, n) => ({ ...samples.people, id: id(`p${n}`), email: '' }))
    await ofKind(world, 'people').upsert({ items: people })
    await ofKind(world, 'memberships').upsert({
      items: people.map((person) => ({ ...samples.memberships, person: person.id })),
    })
    for (const { id: person } of people) await app.consent({ ...member, person })
    const some = people.filter((_, n) => n % 10 === 0).map(({ id }) => id)
    await ofKind(world, 'people').upsert({
      items: people.map((person) => (some.includes(person.id) ? { ...person, lastName: 'New' } : person)),
    })
    expect(listMembers(await app.heard())).toEqual(some.sort())
  })
})

describe('no event is published', () => {
  /** The types, app by app: of two publishers one does nothing. */
  async function heardBy(apps: readonly (typeof app)[]) {
    const types: string[][] = []
    for (const one of apps) types.push(listTypes(await one.heard()))
    return types
  }

  const change = () => upsert('people', { firstName: 'Other' })

  it('without the scope, for another club, after the year of a consent, and after its withdrawal', async () => {
    const others = await Promise.all(Array.from({ length: 5 }, () => mintSubscribed(world)))
    const [withoutScope, elsewhere, old, withdrawn, unregistered] = others as [
      typeof app,
      typeof app,
      typeof app,
      typeof app,
      typeof app,
    ]
    await withoutScope.consent({ ...member, scopes: meScopes.filter((scope) => scope !== 'svc.me.profile:read') })
    const other = sampleRecords()
    await storeSamples(world, other)
    await elsewhere.consent({ person: other.people.id, organisation: other.organisations.id })
    await old.consent({ ...member, createdAt: new Date(world.core.now() - 366 * 86_400_000) })
    const consent = await withdrawn.consent(member)
    await unregistered.consent(member)
    await world.db.client.update({ where: { id: unregistered.client }, data: { scopes: ['svc.me.groups:read'] } })
    await change()
    await world.db.consent.update({ where: { id: consent }, data: { withdrawnAt: new Date() } })
    expect(await heardBy(others)).toEqual([[], [], [], ['consent.withdrawn'], []])
    expect(listTypes(await app.heard())).toEqual(changed('profile'))
  })

  it('for an app that nobody receives events of, or that is suspended', async () => {
    const others = [
      await mintSubscribed(world, { subscribed: false }),
      await mintSubscribed(world, { state: 'suspended' }),
      await mintSubscribed(world, { subscribed: false }),
    ]
    for (const one of others) await one.consent(member)
    await world.db.eventFeed.create({ data: { appId: others[2]!.app } })
    await change()
    expect(await world.db.memberChange.count({ where: { clientId: others[0]!.client } })).toBe(0)
    expect(await heardBy(others)).toEqual([[], [], changed('profile')])
  })

  it('about a member who has left', async () => {
    await end('memberships', member)
    expect(listTypes(await app.heard())).toEqual(['member.left'])
    await change()
    expect(await app.heard()).toEqual([])
  })

  it('for a change that is rolled back', async () => {
    const merge = () =>
      world.db.inTransaction(async (client) => {
        const records = [{ line: 1, record: { ...samples.people, firstName: 'Other' } }]
        await mergeRecords(client, 'people', records, { now: new Date(world.core.now()) })
        const { rows } = await client.query('SELECT kind FROM "MemberChange" WHERE "personId" = $1', [member.person])
        expect(rows).toEqual([{ kind: 'profile' }])
        throw new Error('killed')
      })
    await expect(merge()).rejects.toThrow('killed')
    expect(await world.db.memberChange.count({ where: { personId: member.person } })).toBe(0)
    expect(await app.heard()).toEqual([])
  })
})

describe('events of a kind about a member', () => {
  it('are one in a minute, and a change is never the last without one', async () => {
    const rename = (firstName: string) => upsert('people', { firstName })
    await rename('A')
    await rename('B')
    expect(listTypes(await app.heard())).toEqual(changed('profile'))
    await rename('C')
    await upsert('groups', { name: 'Other' })
    // Half a minute for what runs in between, on a busy machine too.
    world.advance(30)
    expect(listTypes(await app.heard())).toEqual(changed('groups'))
    await rename('D')
    world.advance(30)
    expect(listTypes(await app.heard())).toEqual(changed('profile'))
    world.advance(60)
    expect(await app.heard()).toEqual([])
    expect(await world.db.memberChange.count({ where: { personId: member.person } })).toBe(0)
  })

  it('are one of an app, whatever its clients, with a delivery for each subscription', async () => {
    await app.consent(member, await app.mintClient())
    await world.db.subscription.create({
      data: { id: id('s'), appId: app.app, subscriber: 'y', url: 'https://127.0.0.1/' },
    })
    await upsert('people', { firstName: 'Other' })
    await Promise.all(Array.from({ length: 4 }, () => publishMemberEvents(world.db, world.core.now())))
    expect(await world.db.delivery.count({ where: { appId: app.app, state: 'pending' } })).toBe(2)
    expect(await app.heard()).toHaveLength(1)
  })

  it('are published by the poll of a worker, which then delivers them', async () => {
    await upsert('people', { firstName: 'Other' })
    const poll = createDuePoller({ db: world.db, now: world.core.now, clock: () => 0, pollMs: 1 })
    expect(await poll()).toMatchObject({ more: true })
    expect((await poll()).due).toContainEqual(expect.objectContaining({ app: app.app }))
  })
})

describe('member.left', () => {
  it('comes when the membership, the person or the club ends, and not again', async () => {
    for (const [recordType, key] of [
      ['memberships', member],
      ['people', member.person],
      ['organisations', member.organisation],
    ] as const) {
      await upsert('memberships', { leftAt: null })
      await world.db.consent.updateMany({ where: { personId: member.person }, data: { withdrawnAt: null } })
      world.advance(60)
      await app.heard()
      await end(recordType, key)
      const { leftAt } = await world.db.membership.findFirstOrThrow({ where: { personId: member.person } })
      const [event, ...more] = await app.heard()
      expect([event!.type, event!.data.changedAt, more]).toEqual(['member.left', leftAt!.toISOString(), []])
    }
    await upsert('memberships', { leftAt: 1_700_000_001 })
    world.advance(60)
    await app.heard()
    // Any change of an ended membership withdraws the consents.
    await upsert('memberships', { leftAt: 1_700_000_002 })
    expect(listTypes(await app.heard())).toEqual(['consent.withdrawn'])
  })

  it('comes at the time that the platform has set, also to an app that is allowed access later', async () => {
    const inMinutes = (minutes: number) => ({ leftAt: Math.floor(world.core.now() / 1000) + minutes * 60 })
    const moved = inMinutes(10)
    await upsert('memberships', inMinutes(5))
    await upsert('memberships', moved)
    const late = await mintSubscribed(world)
    await late.consent(member)
    world.advance(6 * 60)
    expect([await app.heard(), await late.heard()]).toEqual([[], []])
    world.advance(4 * 60)
    for (const one of [app, late]) {
      const [event, ...more] = await one.heard()
      expect([event!.type, event!.data.changedAt]).toEqual(['member.left', new Date(moved.leftAt * 1000).toISOString()])
      expect(more).toEqual([])
    }
  })

  it.each([
    ['is corrected', { leftAt: 1_700_000_000 }],
    ['is corrected to a later time', { leftAt: Math.floor(Date.now() / 1000) - 30 }],
    ['comes again with another version', { version: 7 }],
  ])('comes also when the end %s before it is published', async (_, change) => {
    // In the past of the database, whose clock the triggers read.
    const leftAt = Math.floor(Date.now() / 1000) - 60
    await upsert('memberships', { leftAt })
    await ofKind(world, 'memberships').upsert({ items: [{ ...samples.memberships, leftAt, ...change }] })
    expect(listTypes(await app.heard())).toEqual(['consent.withdrawn', 'member.left'])
    world.advance(60)
    expect(await app.heard()).toEqual([])
  })

  it('does not come when the end is moved away before it is published', async () => {
    const leftAt = Math.floor(Date.now() / 1000) - 60
    await upsert('memberships', { leftAt })
    await upsert('memberships', { leftAt: null })
    expect(listTypes(await app.heard())).toEqual(['consent.withdrawn'])
  })

  it('is all that follows an erasure', async () => {
    await upsert('people', { firstName: 'Other' })
    await reportingDue(world.core, eraseMember)
    expect(await world.db.memberChange.findMany({ where: { personId: member.person } })).toMatchObject([
      { kind: 'left' },
    ])
    const events = await app.heard()
    expect(events.map(({ type, data }) => [type, data.memberId])).toEqual([['member.left', member.person]])
    world.advance(60)
    expect(await app.heard()).toEqual([])
    expect(await world.db.memberChange.count({ where: { personId: member.person } })).toBe(0)
  })

  it('is all that follows an erasure during which a change was published', async () => {
    const hold = (tx: Transaction) => tx.$queryRaw`SELECT id FROM "Person" WHERE id = ${member.person} FOR UPDATE`
    const publish = async () => {
      await upsert('groups', { name: 'Other' })
      expect(await publishMemberEvents(world.db, world.core.now())).toBe(1)
    }
    const { removed } = await meanwhile(world.db, hold, eraseMember, { goOn: publish })
    expect(removed.events).toBe(1)
    expect(listTypes(await app.heard())).toEqual(['member.left'])
  })

  it('is all that follows an erasure that began while a publisher was at work', async () => {
    await upsert('groups', { name: 'Other' })
    let erasing: ReturnType<typeof eraseMember> | undefined
    const publish = () => publishMemberEvents(world.db, world.core.now())
    await meanwhile(world.db, (tx) => holdApp(tx, app.app), publish, {
      async goOn() {
        let erased = false
        erasing = eraseMember().finally(() => {
          erased = true
        })
        const waits = async () => {
          const rows = await world.db.$queryRaw<unknown[]>`
            SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
          return rows.length > 0
        }
        await expect.poll(async () => erased || (await waits()), { interval: 20 }).toBe(true)
      },
    })
    expect((await erasing!).removed.events).toBe(1)
    expect(listTypes(await app.heard())).toEqual(['member.left'])
  })
})

it('consent.withdrawn comes when the member allows no client of the app access any longer', async () => {
  const second = await app.consent(member, await app.mintClient())
  const withdraw = (where: object) =>
    world.db.consent.updateMany({ where, data: { withdrawnAt: new Date(world.core.now()) } })
  await withdraw({ clientId: app.client })
  expect(await app.heard()).toEqual([])
  await withdraw({ id: second })
  const [event, ...more] = await app.heard()
  expect([event!.type, event!.data.memberId, more]).toEqual(['consent.withdrawn', member.person, []])
  await upsert('people', { firstName: 'Other' })
  expect(await app.heard()).toEqual([])
})

it('quiz.reviewed comes for each result, to apps that the member allows to read quizzes', async () => {
  const { academy: academyId, id: quizId } = samples.quizzes
  await ofKind(world, 'memberships').upsert({ items: [{ ...samples.memberships, organisation: academyId }] })
  const other = await mintSubscribed(world)
  await other.consent({ person: member.person, organisation: academyId, scopes: ['lms.me.quizzes:write'] })
  await app.consent({ person: member.person, organisation: academyId })
  const results = [id('result'), id('result')].sort()
  for (const resultId of results) {
    await world.db.quizResult.create({
      data: {
        id: resultId,
        quizId,
        personId: member.person,
        score: 0,
        passed: false,
        reviewStatus: 'pending_review',
        gradedQuestions: 0,
        threshold: 50,
        submittedAt: new Date(),
      },
    })
    await world.db.answer.create({ data: { resultId, quizId, questionId: 'q2', value: '"!"' } })
    const reviews = asPlatform(world, { organisation: academyId }).quizzes.review
    await reportingDue(world.core, () => reviews({ result: resultId, grades: { q2: true } }))
  }
  const events = await app.heard()
  expect(listTypes(events)).toEqual(['quiz.reviewed', 'quiz.reviewed'])
  expect(events.map(({ data }) => data).sort((a, b) => (a.resultId! < b.resultId! ? -1 : 1))).toEqual(
    results.map((resultId) => ({ academyId, quizId, resultId, memberId: member.person })),
  )
  expect(await other.heard()).toEqual([])
})
