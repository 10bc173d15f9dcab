import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import type { MergeOptions } from '../../routers/directory/merge.ts'
import { mergeRecords } from '../../routers/directory/merge.ts'
import type { RecordTypeName } from '../../routers/directory/record-types.ts'
import type { Refusal } from '../../routers/directory/refusals.ts'
import { id } from '../support/tenant.ts'

import type { AnyRecord } from './records.ts'
import { directoryWorld, ofKind, storeSamples } from './records.ts'
import { sampleRecords } from './sample-records.ts'

const world = directoryWorld()

/** Merges in one transaction, as the import does. */
const merge = (recordType: RecordTypeName, records: readonly unknown[], options: Partial<MergeOptions> = {}) =>
  world.db.inTransaction((client) =>
    mergeRecords(
      client,
      recordType,
      records.map((record, line) => ({ line, record })),
      { now: new Date(), ...options },
    ),
  )

/** The row versions of a table: a row that is written gets another one. */
const versions = (table: string) =>
  world.db.$queryRawUnsafe<object[]>(`SELECT ctid::text, xmin::text, xmax::text FROM "${table}" ORDER BY ctid`)

function findNew(before: readonly object[], after: readonly object[]) {
  const known = new Set(before.map((row) => JSON.stringify(row)))
  return after.filter((row) => !known.has(JSON.stringify(row)))
}

const people = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({
    id: `p-${from + i}`,
    firstName: 'A',
    lastName: `${i}`,
    email: '',
    birthday: i % 2 ? '2000-01-01' : null,
  }))

const clean = () =>
  world.db.$transaction(async (tx) => {
    await tx.organisation.deleteMany()
    await tx.person.deleteMany()
    await tx.discipline.deleteMany()
  })

describe('mergeRecords', () => {
  it('writes nothing for records that are stored, not even a lock, and only what differs for others', async () => {
    await clean()
    const samples = sampleRecords()
    await storeSamples(world, samples)
    const plans = Array.from({ length: 2_500 }, (_, i) => ({ ...samples.trainingPlans, id: `plan-${i}` }))
    expect(await merge('people', people(2_500))).toMatchObject({ added: 2_500 })
    expect(await merge('trainingPlans', plans)).toMatchObject({ added: 2_500 })

    const tables = ['Person', 'TrainingPlan', 'Exercise', 'PlanAssignment']
    const before = await Promise.all(tables.map(versions))
    expect(await merge('people', people(2_500))).toMatchObject({ added: 0, changed: 0, unchanged: 2_500 })
    expect(await merge('trainingPlans', plans, { full: true })).toMatchObject({ unchanged: 2_500, ended: 1 })
    const after = await Promise.all(tables.map(versions))
    expect(after[0]).toEqual(before[0])
    // The sample, with 3 exercises in 1 group, was not among the plans, and has ended. Its person and guardian stay.
    expect(after.map((rows, i) => findNew(before[i]!, rows))).toEqual([[], [], [], []])
    expect(after.map(({ length }) => length)).toEqual([2_502, 2_500, 7_500, 2_500])

    const changed = people(2_500).map((record, i) => (i === 7 ? { ...record, firstName: 'B' } : record))
    expect(await merge('people', changed)).toMatchObject({ changed: 1, unchanged: 2_499 })
    expect(findNew(before[0]!, await versions('Person'))).toHaveLength(1)
  })

  it('takes any number of records from a stream, and says how far it is', async () => {
    await clean()
    const seen: number[] = []
    async function* stream() {
      for (const [line, record] of people(5_500).entries()) yield { line: line + 1, record }
    }
    const merged = await world.db.inTransaction((client) =>
      mergeRecords(client, 'people', stream(), { now: new Date(), onProgress: (count) => seen.push(count) }),
    )
    expect(merged).toMatchObject({ added: 5_500, refused: { count: 0 } })
    expect(seen).toEqual([1000, 2000, 3000, 4000, 5000, 5500])
  })
})

describe('refused records', () => {
  const bad = [{ id: 'p-0' }, { ...people(1)[0], email: 7 }, people(1)[0], { ...people(1)[0], lastName: 'again' }, 'x']

  it('stop the others, and are all named', async () => {
    await clean()
    const named: Refusal[] = []
    const merged = await merge('people', bad, { onRefused: (refusal) => named.push(refusal) })
    expect(merged).toMatchObject({ added: 0, changed: 0, unchanged: 0, refused: { count: 5 } })
    expect(named).toEqual(merged.refused.first)
    expect(new Set(named.map(({ line }) => line))).toEqual(new Set([0, 1, 2, 3, 4]))
    expect(await world.db.person.count()).toBe(0)
  })

  it('are left out when they are to be skipped', async () => {
    await clean()
    const club = { id: 'club', kind: 'club', name: '' }
    await merge('organisations', [club, { ...club, id: 'northgate' }])
    await merge('people', people(3))
    await merge('groups', [
      { id: 'mine', club: 'club', name: '' },
      { id: 'theirs', club: 'northgate', name: '' },
    ])
    const event = { club: 'club', title: '', location: '', start: 0, end: 0 }
    const merged = await merge(
      'events',
      [
        { ...event, id: 'good', groups: ['mine'] },
        { ...event, id: 'theirs', groups: ['theirs'] },
        { ...event, id: 'backwards', end: -1 },
        { ...event, id: 'odd', groups: [7] },
      ],
      { skipRefused: true },
    )
    expect(merged).toMatchObject({ added: 1, unchanged: 0, refused: { count: 3 } })
    expect(await world.db.event.findMany({ select: { id: true } })).toEqual([{ id: 'good' }])
    expect(await world.db.eventGroup.count()).toBe(1)
  })
})

describe('a full merge', () => {
  beforeAll(async () => {
    await clean()
    await merge('organisations', [{ id: 'club', kind: 'club', name: '' }])
    await merge('people', people(4))
    await merge(
      'memberships',
      people(4).map((person) => ({ organisation: 'club', person: person.id })),
    )
  })
  const memberships = (...numbers: number[]) => numbers.map((i) => ({ organisation: 'club', person: `p-${i}` }))
  const members = async () => {
    const rows = await world.db.membership.findMany({ where: { leftAt: null }, orderBy: { personId: 'asc' } })
    return rows.map(({ personId }) => personId)
  }

  it('ends what is missing, once, and says of how many', async () => {
    const now = new Date('2026-11-01T12:00:00.123Z')
    expect(await merge('memberships', memberships(0, 1, 2), { full: true, now })).toMatchObject({
      unchanged: 3,
      ended: 1,
      current: 4,
    })
    expect(await members()).toEqual(['p-0', 'p-1', 'p-2'])
    const of = { organisationId: 'club', personId: 'p-3' }
    expect(await world.db.membership.findUnique({ where: { of } })).toMatchObject({ leftAt: now })
    expect(await merge('memberships', memberships(0, 1, 2), { full: true })).toMatchObject({ ended: 0, current: 3 })
    expect(await world.db.membership.findUnique({ where: { of } })).toMatchObject({ leftAt: now })
  })

  it('takes those back that return', async () => {
    expect(await merge('memberships', memberships(0, 1, 2, 3), { full: true })).toMatchObject({ changed: 1, ended: 0 })
    expect(await members()).toEqual(['p-0', 'p-1', 'p-2', 'p-3'])
  })

  it('ends nothing when a record is refused, unless it is skipped; a refused record does not end', async () => {
    const records = [...memberships(0, 1), { organisation: 'club', person: 'p-2', joinedAt: 'x' }]
    expect(await merge('memberships', records, { full: true })).toMatchObject({ ended: 0, refused: { count: 1 } })
    expect(await members()).toHaveLength(4)
    expect(await merge('memberships', [...records, 'no key'], { full: true, skipRefused: true })).toMatchObject({
      ended: 0,
      refused: { count: 2 },
    })
    expect(await members()).toHaveLength(4)
    expect(await merge('memberships', records, { full: true, skipRefused: true })).toMatchObject({ ended: 1 })
    expect(await members()).toEqual(['p-0', 'p-1', 'p-2'])
  })

  it('of people and organisations ends memberships, and no rows', async () => {
    expect(await merge('people', people(1), { full: true })).toMatchObject({ ended: 2, current: 3 })
    expect([await members(), await world.db.person.count()]).toEqual([['p-0'], 4])
    const other = { id: 'other', kind: 'club', name: '' }
    expect(await merge('organisations', [other], { full: true })).toMatchObject({ ended: 1, current: 1 })
    expect([await members(), await world.db.organisation.count()]).toEqual([[], 2])
  })

  it('of another kind removes what is missing', async () => {
    await merge(
      'calendars',
      ['a', 'b'].map((id) => ({ id, club: 'club', name: '', visible: true })),
    )
    expect(await merge('calendars', [{ id: 'b' }], { full: true })).toMatchObject({ ended: 1, current: 2 })
    expect(await world.db.calendar.findMany({ select: { id: true } })).toEqual([{ id: 'b' }])
  })
})

describe('a membership that ends', () => {
  it('keeps private storage when it ends and returns; the consents end', async () => {
    await clean()
    const samples = sampleRecords()
    await storeSamples(world, samples)
    const { organisation: organisationId, person: personId } = samples.memberships
    const { db, ids } = world
    await db.organisation.create({ data: { id: ids.provider, kind: 'provider', name: '' } })
    await db.app.create({ data: { id: ids.app, name: '', teamId: ids.team, providerId: ids.provider } })
    const entry = {
      appId: ids.app,
      clubId: organisationId,
      owner: personId,
      memberId: personId,
      collection: 'c',
      key: 'k',
    }
    await db.storageEntry.create({
      data: { ...entry, value: '{"a": 1}', version: randomUUID(), updatedAt: new Date() },
    })
    const consent = { id: id('consent'), personId, organisationId, clientId: ids.client, scopes: [] }
    await db.consent.create({ data: consent })
    const kept = async () => {
      const { withdrawnAt } = await db.consent.findUniqueOrThrow({ where: { id: consent.id } })
      const { value } = await db.storageEntry.findFirstOrThrow({ where: { memberId: personId } })
      const of = { organisationId, personId }
      const { leftAt } = await db.membership.findUniqueOrThrow({ where: { of } })
      return { value, withdrawn: withdrawnAt !== null, left: leftAt !== null }
    }
    const { upsert, end } = ofKind(world, 'memberships')
    const key = { organisation: organisationId, person: personId }

    // An upsert of a current member changes nothing of theirs.
    await upsert({ items: [{ ...key, joinedAt: 1 }] })
    expect(await kept()).toEqual({ value: '{"a": 1}', withdrawn: false, left: false })
    await end({ ids: [key] })
    expect(await kept()).toEqual({ value: '{"a": 1}', withdrawn: false, left: true })
    await upsert({ items: [key] })
    expect(await kept()).toEqual({ value: '{"a": 1}', withdrawn: true, left: false })
  })

  it('keeps an end that is still to come, until it is cleared', async () => {
    const [row] = await world.db.membership.findMany()
    const key = { organisation: row!.organisationId, person: row!.personId }
    const { upsert, list } = ofKind(world, 'memberships')
    const left = async () => (await list()).items[0]!.leftAt
    const soon = Math.floor(Date.now() / 1000) + 1_000
    await upsert({ items: [{ ...key, leftAt: soon }] })
    await upsert({ items: [{ ...key, joinedAt: 5 }] })
    expect(await left()).toBe(soon)
    await upsert({ items: [{ ...key, leftAt: null }] })
    expect(await left()).toBeNull()
    const past: AnyRecord = { ...key, leftAt: '2020-01-01T00:00:00+01:00' }
    await upsert({ items: [past] })
    expect(await left()).toBe(Date.parse('2019-12-31T23:00:00Z') / 1000)
  })

  it('is administrated again only where the record of a return says so', async () => {
    const [row] = await world.db.membership.findMany()
    const key = { organisation: row!.organisationId, person: row!.personId }
    const { upsert, list } = ofKind(world, 'memberships')
    const administers = async () => (await list()).items[0]!.administrator
    await upsert({ items: [{ ...key, leftAt: null, administrator: true }] })
    await upsert({ items: [{ ...key, joinedAt: 5 }] })
    expect(await administers()).toBe(true)
    await upsert({ items: [{ ...key, leftAt: '2020-01-01T00:00:00Z' }] })
    await upsert({ items: [key] })
    expect(await administers()).toBe(false)
    await upsert({ items: [{ ...key, leftAt: '2020-01-01T00:00:00Z' }] })
    await upsert({ items: [{ ...key, administrator: true }] })
    expect(await administers()).toBe(true)
  })

  it('ends when it began where it is stored without a beginning, or before its beginning', async () => {
    await clean()
    await merge('organisations', [{ id: 'club', kind: 'club', name: '' }])
    await merge('people', people(3))
    const [past, now, later] = ['2020-01-01T00:00:00.000Z', '2026-11-01T12:00:00.000Z', '2030-01-01T00:00:00.000Z']
    const memberships = [0, 1, 2].map((i) => ({ organisation: 'club', person: `p-${i}` }))
    const given = [{ leftAt: past }, { joinedAt: later }, { joinedAt: later, leftAt: later }]
    const at = { now: new Date(now) }
    expect(
      await merge(
        'memberships',
        memberships.map((key, i) => ({ ...key, ...given[i] })),
        at,
      ),
    ).toMatchObject({ added: 3, refused: { count: 0 } })
    expect(await merge('memberships', [memberships[0]], { ...at, full: true })).toMatchObject({ changed: 1, ended: 2 })
    await merge('memberships', [{ ...memberships[0], joinedAt: later }], at)
    expect(
      await merge('organisations', [{ id: 'other', kind: 'club', name: '' }], { ...at, full: true }),
    ).toMatchObject({
      ended: 1,
    })
    const rows = await world.db.membership.findMany({ orderBy: { personId: 'asc' } })
    expect(rows.map(({ joinedAt, leftAt }) => [joinedAt.toISOString(), leftAt?.toISOString()])).toEqual([
      [now, now],
      [now, now],
      [now, now],
    ])
  })
})

describe('an e-mail address', () => {
  it('that is stored and is none stays, and is refused as a change', async () => {
    await clean()
    const [anna, ben] = people(2)
    await world.db.person.create({ data: { ...anna!, birthday: null, email: 'n/a' } })
    const email = async () => (await world.db.person.findUniqueOrThrow({ where: { id: anna!.id } })).email
    const same = await merge('people', [{ ...anna, lastName: 'New', email: 'n/a' }])
    expect([same, await email()]).toEqual([expect.objectContaining({ changed: 1 }), 'n/a'])

    const others = [
      { ...anna, email: 'none' },
      { ...ben, email: 'n/a' },
    ]
    const refused = await merge('people', others)
    const reason = 'is neither empty nor an e-mail address of at most 254 characters, such as name@example.org.'
    expect(refused.refused.first).toEqual([
      { line: 0, field: 'email', reason: `"none" ${reason}` },
      { line: 1, field: 'email', reason: `"n/a" ${reason}` },
    ])
    expect([await email(), await world.db.person.count()]).toEqual(['n/a', 1])
    expect(await merge('people', others, { skipRefused: true })).toMatchObject({ added: 0, changed: 0 })
    expect([await email(), await world.db.person.count()]).toEqual(['n/a', 1])
    await merge('people', [{ ...anna, email: 'Änne+1@exämple.org' }])
    expect(await email()).toBe('Änne+1@exämple.org')
  })
})
