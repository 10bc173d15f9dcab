import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { beforeAll, describe, expect, expectTypeOf, it } from 'vitest'
import type { Id, Item, Listed } from '../../routers/directory/procedures.ts'
import type { RecordTypeName } from '../../routers/directory/record-types.ts'
import { listFields, recordTypeNames } from '../../routers/directory/record-types.ts'
import { platformClaims, platformClient } from '../support/platform.ts'
import { times } from '../support/rounds.ts'
import { useWorld } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import type { AnyRecord } from './records.ts'
import { directoryWorld, ofKind, seen, storeAll, stored, storeSamples } from './records.ts'
import { sampleRecords } from './sample-records.ts'

const world = directoryWorld()
/** For each record type: records to store it among those that come before it, and to end it among all. */
const own = Object.fromEntries(
  recordTypeNames.map((recordType) => [recordType, { stored: sampleRecords(), ended: sampleRecords() }]),
)
beforeAll(async () => {
  await storeAll(
    world,
    recordTypeNames.flatMap((recordType) => [
      { samples: own[recordType]!.stored, before: recordType },
      { samples: own[recordType]!.ended },
    ]),
  )
})

/** A change of one field; the kinds that are all key have none. */
const changes: Partial<Record<RecordTypeName, AnyRecord>> = {
  organisations: { name: 'Ruderclub B' },
  people: { birthday: null },
  memberships: { joinedAt: 1_600_000_000 },
  guardians: { until: '2030-01-31' },
  groups: { name: 'U15' },
  calendars: { visible: false },
  events: { title: 'Cancelled' },
  trainingPlans: { exercises: ['Row', 'Squat'] },
  disciplines: { name: '1000 m' },
  competitions: { clubs: [] },
  results: { place: null },
  memberCards: { departments: [] },
  lessons: { title: 'Rules of 2027' },
  quizzes: {
    questions: [
      { id: 'q2', type: 'text', text: 'Why not?', options: [], solution: [] },
      { id: 'q3', type: 'multiple', text: '?', options: ['a', 'b'], solution: ['b', 'a'] },
      { id: 'q1', type: 'single', text: '?', options: ['Yes', 'No'], solution: ['No'] },
    ],
  },
}

const readKey = (recordType: RecordTypeName, record: AnyRecord) =>
  Object.fromEntries(listFields(recordType).flatMap(({ key, name }) => (key ? [[name, record[name]]] : [])))
const readId = (recordType: RecordTypeName, record: AnyRecord) => {
  const key = readKey(recordType, record)
  return Object.keys(key).length === 1 ? Object.values(key)[0] : key
}

describe.each(recordTypeNames)('%s', (recordType) => {
  const record: AnyRecord = own[recordType]!.stored[recordType]
  const upsert = (item: AnyRecord) => ofKind(world, recordType).upsert({ items: [item] })

  it('adds a record, and lists it as it was written', async () => {
    expect(await upsert(record)).toEqual({ added: 1, changed: 0, unchanged: 0 })
    expect(await stored(world, recordType, record)).toEqual({ ...record, version: 0 })
  })

  it('leaves a record that is the same', async () => {
    expect(await upsert(record)).toEqual({ added: 0, changed: 0, unchanged: 1 })
    expect(await upsert(readKey(recordType, record))).toEqual({ added: 0, changed: 0, unchanged: 1 })
    expect(await stored(world, recordType, record)).toEqual({ ...record, version: 0 })
  })

  it('changes the fields that a record sets, and keeps the others', async () => {
    const change = changes[recordType]
    if (!change) return expect(listFields(recordType).every(({ key, name }) => key || name === 'version')).toBe(true)
    expect(await upsert({ ...readKey(recordType, record), ...change })).toEqual({ added: 0, changed: 1, unchanged: 0 })
    expect(await stored(world, recordType, record)).toEqual({ ...record, ...change, version: 0 })
    await upsert(record)
    expect(await stored(world, recordType, record)).toEqual({ ...record, version: 0 })
  })

  it('takes an equal or a larger version, or none, and ignores a smaller one', async () => {
    const change = changes[recordType] ?? {}
    const newer = { ...record, ...change, version: 7 }
    expect(await upsert(newer)).toEqual({ added: 0, changed: 1, unchanged: 0 })
    expect(await upsert({ ...record, version: 6 })).toEqual({ added: 0, changed: 0, unchanged: 1 })
    expect(await stored(world, recordType, record)).toEqual(newer)
    await upsert({ ...record, version: 7 })
    expect(await stored(world, recordType, record)).toEqual({ ...record, version: 7 })
    await upsert({ ...record, ...change })
    expect(await stored(world, recordType, record)).toEqual(newer)
    await upsert(record)
  })

  it('ends a record once', async () => {
    const samples = own[recordType]!.ended
    const end = () => ofKind(world, recordType).end({ ids: [readId(recordType, samples[recordType])] })
    expect(await end()).toEqual({ ended: 1 })
    expect(await end()).toEqual({ ended: 0 })
    const stays = ['organisations', 'people', 'memberships'].includes(recordType)
    const left = await stored(world, recordType, samples[recordType])
    expect(left !== undefined).toBe(stays)
    const membership = await stored(world, 'memberships', samples.memberships)
    if (stays) expect(membership?.leftAt).toBeGreaterThan(0)
    else expect(membership?.leftAt).toBeNull()
  })
})

it('memberCards are listed without departments where the platform has written NULL', async () => {
  const samples = sampleRecords()
  await storeSamples(world, samples)
  const { memberCards: card } = samples
  await world.db.$executeRaw`UPDATE "MemberCard" SET departments = NULL WHERE serial = ${card.serial}`
  expect(await stored(world, 'memberCards', card)).toEqual({ ...card, departments: [], version: 0 })
})

describe('the member', () => {
  it('sees what the platform has stored', async () => {
    const samples = sampleRecords()
    await storeSamples(world, samples)
    const { people, groups, events, trainingPlans, competitions, results, memberCards } = samples
    expect(await seen(world, samples)).toMatchObject({
      profile: people,
      groups: { items: [{ id: groups.id, name: 'U14', role: 'member' }] },
      events: { items: [{ id: events.id, title: 'Regatta', start: events.start, end: Math.floor(events.end) }] },
      trainingplans: { items: [{ id: trainingPlans.id, exerciseCount: 3, group: groups.id }] },
      competitions: { items: [{ id: results.id, competitionId: competitions.id, place: 2, score: 101.25 }] },
      membercard: { card: { serial: memberCards.serial, valid: true, departments: memberCards.departments } },
    })
  })

  const ends = [
    ['groups', { groups: { items: [] }, events: { items: [{}] }, trainingplans: { items: [] } }],
    ['groupMembers', { groups: { items: [] }, trainingplans: { items: [] } }],
    ['calendars', { events: { items: [] } }],
    ['events', { events: { items: [] } }],
    ['trainingPlans', { trainingplans: { items: [] } }],
    ['disciplines', { competitions: { items: [] } }],
    ['competitions', { competitions: { items: [] } }],
    ['results', { competitions: { items: [] } }],
    ['memberCards', { membercard: { card: null } }],
    ['memberships', { profile: 404, groups: 404, events: 404 }],
    ['people', { profile: 404, groups: 404, events: 404 }],
    ['organisations', { profile: 404, groups: 404, events: 404 }],
  ] as const
  const ended = new Map(ends.map(([recordType]) => [recordType, sampleRecords()]))
  beforeAll(() =>
    storeAll(
      world,
      [...ended.values()].map((samples) => ({ samples })),
    ),
  )
  it.each(ends)('sees the end of %s', async (recordType, after) => {
    const samples = ended.get(recordType)!
    await ofKind(world, recordType).end({ ids: [readId(recordType, samples[recordType])] })
    expect(await seen(world, samples)).toMatchObject(after)
  })
})

describe('list', () => {
  it('returns every record once, page by page, in the order of the keys', async () => {
    for (const recordType of ['people', 'groupMembers'] as const) {
      const { list } = ofKind(world, recordType)
      const all = (await list({ limit: 200 })).items
      const paged: AnyRecord[] = []
      for (let after: unknown = null; ; ) {
        const { items, next } = await list({ after, limit: 3 })
        paged.push(...items)
        if (next === null) break
        after = next
      }
      expect(paged).toEqual(all)
      expect(paged.length).toBeGreaterThan(3)
    }
  })
})

const person = (id: string) => ({ id, firstName: 'J', lastName: 'J', email: '' })
const people = () => ofKind(world, 'people')
const refused = async (recordType: 'people' | 'memberships', items: AnyRecord[]) => {
  const headers = { authorization: `Bearer ${await world.token(platformClaims(world))}` }
  const { status, body } = await world.internal('POST', `/trpc/directory.${recordType}.upsert`, {
    headers,
    body: { items },
  })
  return { status, refused: body.error?.data.refused }
}

/** An id with letters that can be written in two ways, each of them composed or not. */
const letters = fc.array(fc.constantFrom('ö', 'é', 'Å', 'ộ', 'が', 'j', 'x'), { minLength: 1, maxLength: 5 })
const twoWritings = fc
  .record({ letters, forms: fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }) })
  .map(({ letters, forms }) => {
    const written = (from: number) =>
      letters.map((letter, i) => letter.normalize(forms[(from + i) % 10] ? 'NFC' : 'NFD')).join('')
    return [written(0), written(5)] as const
  })
  .filter(([a, b]) => a !== b)

describe('an id whose letters are composed differently', () => {
  it('is refused for a new person, stored or in the same call, and the first one stays', async () => {
    await fc.assert(
      fc.asyncProperty(twoWritings, async ([a, b]) => {
        const own = randomUUID()
        const [first, second] = [`${own}-${a}`, `${own}-${b}`]
        const reason = expect.stringMatching(/ is already an id whose letters are composed differently /)
        const refusal = (index: number) => ({ status: 400, refused: [{ index, field: 'id', reason }] })
        expect(await refused('people', [person(first), person(second)])).toEqual(refusal(1))
        expect(await world.db.person.count({ where: { id: { startsWith: own } } })).toBe(0)
        await people().upsert({ items: [person(first)] })
        expect(await refused('people', [person(second)])).toEqual(refusal(0))
        expect(await world.db.person.findMany({ where: { id: { startsWith: own } }, select: { id: true } })).toEqual([
          { id: first },
        ])
      }),
      { numRuns: times(200, 10) },
    )
  })

  it('is named as such where a record refers to it', async () => {
    const [club, composed, decomposed] = [randomUUID(), 'jörg', 'jo\u0308rg']
    await ofKind(world, 'organisations').upsert({ items: [{ id: club, kind: 'club', name: 'Club' }] })
    await people().upsert({ items: [person(composed)] })
    const items = [
      { organisation: club, person: decomposed },
      { organisation: club, person: 'björn' },
    ]
    expect(await refused('memberships', items)).toEqual({
      status: 400,
      refused: [
        {
          index: 0,
          field: 'person',
          reason: `"${decomposed}" is not the id of a person: the letters of the stored one are composed differently (Unicode NFC and NFD).`,
        },
        { index: 1, field: 'person', reason: '"björn" is not the id of a person.' },
      ],
    })
    expect(await world.db.membership.count({ where: { organisationId: club } })).toBe(0)
  })

  it('is taken in an update of its own record', async () => {
    const id = `jo\u0308rg-${randomUUID()}`
    await people().upsert({ items: [person(id)] })
    expect(await people().upsert({ items: [{ ...person(id), lastName: 'New' }] })).toMatchObject({ changed: 1 })
  })
})

describe('the types of a client', () => {
  const world = useWorld()

  it('have each kind with its records and keys', async () => {
    const { directory } = platformClient(world)
    const person = id('person')
    const added = await directory.people.upsert.mutate({
      items: [{ id: person, firstName: 'A', lastName: 'B', email: '', birthday: null, version: 1 }],
    })
    expect(added).toEqual({ added: 1, changed: 0, unchanged: 0 })
    const { organisation } = { organisation: world.ids.club }
    await directory.memberships.upsert.mutate({ items: [{ organisation, person, joinedAt: '2026-01-01T00:00:00Z' }] })
    const { items } = await directory.memberships.list.query({ after: { organisation, person }, limit: 1 })
    expectTypeOf(items[0]!.joinedAt).toEqualTypeOf<number>()
    expect(await directory.memberships.end.mutate({ ids: [{ organisation, person }] })).toEqual({ ended: 1 })
  })

  it('refuse unknown fields, wrong values and keys that are left out', () => {
    expectTypeOf<{ id: string; fristName: string }>().not.toExtend<Required<Item<'people'>>>()
    expectTypeOf<{ firstName: string }>().not.toExtend<Item<'people'>>()
    expectTypeOf<{ id: string; kind: 'team' }>().not.toExtend<Item<'organisations'>>()
    expectTypeOf<{ id: string; groups: string }>().not.toExtend<Item<'events'>>()
    expectTypeOf<{ id: string; leftAt: undefined }>().not.toExtend<Item<'memberships'>>()
    expectTypeOf<{ id: string; state: 'open'; attempts: null }>().toExtend<Item<'quizzes'>>()
  })

  it('have ids as they are', () => {
    expectTypeOf<Id<'people'>>().toEqualTypeOf<string>()
    expectTypeOf<Id<'memberships'>>().toEqualTypeOf<{ organisation: string; person: string }>()
    expectTypeOf<Id<'groupMembers'>['role']>().toEqualTypeOf<'member' | 'trainer'>()
  })

  it('have whole records of a list', () => {
    expectTypeOf<Listed<'people'>['birthday']>().toEqualTypeOf<string | null>()
    expectTypeOf<Listed<'events'>['groups']>().toEqualTypeOf<string[]>()
    expectTypeOf<Listed<'quizzes'>['state']>().toEqualTypeOf<'draft' | 'open' | 'closed'>()
    expectTypeOf<Listed<'people'>['version']>().toEqualTypeOf<number>()
  })
})
