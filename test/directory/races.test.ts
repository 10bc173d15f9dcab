import { beforeAll, describe, expect, it } from 'vitest'
import { readRefusal } from '../support/platform.ts'

import type { AnyRecord } from './records.ts'
import { directoryWorld, ofKind, storeSamples } from './records.ts'
import { sampleRecords } from './sample-records.ts'

const world = directoryWorld()
const samples = sampleRecords()
beforeAll(async () => {
  await storeSamples(world, samples)
})

const club = samples.organisations.id
const range = (count: number) => Array.from({ length: count }, (_, i) => i)
const shuffled = <T>(values: readonly T[]) =>
  values
    .map((value) => [Math.random(), value] as const)
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value)

describe('concurrent upserts', () => {
  it('of the same new records add each of them once', async () => {
    const items = range(200).map((i) => ({ id: `new-${i}`, firstName: 'A', lastName: `${i}`, email: '' }))
    const merged = await Promise.all(range(6).map(() => ofKind(world, 'people').upsert({ items: shuffled(items) })))
    const sum = (of: 'added' | 'changed' | 'unchanged') => merged.reduce((total, counts) => total + counts[of], 0)
    expect([sum('added'), sum('changed'), sum('unchanged')]).toEqual([200, 0, 1000])
  })

  it('of overlapping records, in any order, all succeed, and one of them wins each record', async () => {
    const groups = range(60).map((i) => ({ id: `group-${i}`, club, name: 'G' }))
    await ofKind(world, 'groups').upsert({ items: groups })
    const event = { club, title: '', location: '', start: 0, end: 0 }
    const of = (writer: number) =>
      shuffled(range(60)).map((i) => ({
        ...event,
        id: `event-${i}`,
        title: `${writer}`,
        groups: [`group-${writer}`, `group-${i}`],
      }))
    for (let round = 0; round < 3; round++) {
      await Promise.all(range(6).map((writer) => ofKind(world, 'events').upsert({ items: of(writer + round) })))
      const { items } = await ofKind(world, 'events').list({ limit: 200 })
      const written = items.filter(({ id }) => /^event-\d{1,2}$/.test(id))
      expect(written).toHaveLength(60)
      // Title and groups are of the same writer.
      for (const { id, title, groups } of written) {
        expect(groups).toEqual([...new Set([`group-${title}`, `group-${id.slice(6)}`])].sort())
      }
    }
  })

  it('of two fields of a record keep both', async () => {
    const id = 'two-fields'
    const { upsert } = ofKind(world, 'people')
    await upsert({ items: [{ id, firstName: '0', lastName: '0', email: '' }] })
    for (const i of range(10)) {
      await Promise.all([upsert({ items: [{ id, firstName: `${i}` }] }), upsert({ items: [{ id, lastName: `${i}` }] })])
      expect(await world.db.person.findUnique({ where: { id } })).toMatchObject({ firstName: `${i}`, lastName: `${i}` })
    }
  })

  it('of versions leave the largest', async () => {
    const id = 'versioned'
    const { upsert } = ofKind(world, 'people')
    const record = (version: number) => ({ id, firstName: `${version}`, lastName: '', email: '', version })
    for (const round of range(5)) {
      const versions = shuffled(range(8).map((i) => round * 10 + i))
      await Promise.all(versions.map((version) => upsert({ items: [record(version)] })))
      expect(await world.db.person.findUnique({ where: { id } })).toMatchObject({ firstName: `${round * 10 + 7}` })
    }
  })

  it('and ends of what they refer to are taken or refused, and leave nothing that dangles', async () => {
    const outcomes = new Set<string>()
    for (const round of range(8)) {
      const groups = range(10).map((i) => ({ id: `ended-${round}-${i}`, club, name: 'G' }))
      const ids = groups.map(({ id }) => id)
      await ofKind(world, 'groups').upsert({ items: groups })
      const plan: AnyRecord = { id: `plan-${round}`, club, name: '', category: '', description: '', exercises: [] }
      const members = ids.map((group) => ({ group, person: samples.people.id, role: 'trainer' }))
      const calls = [
        ofKind(world, 'groups').end({ ids: shuffled(ids) }),
        ofKind(world, 'trainingPlans').upsert({ items: [{ ...plan, groups: shuffled(ids) }] }),
        ofKind(world, 'groupMembers').upsert({ items: shuffled(members) }),
        ofKind(world, 'groups').end({ ids: shuffled(ids) }),
      ]
      const settled = calls.map((call) =>
        call.then(
          () => {
            outcomes.add('taken')
          },
          (error) => {
            expect([error.status, error.refused?.[0].reason]).toEqual([
              400,
              expect.stringContaining('is not the id of a group'),
            ])
            outcomes.add('refused')
          },
        ),
      )
      await Promise.all(settled)
      expect(await world.db.group.count({ where: { id: { in: ids } } })).toBe(0)
      expect(await world.db.planAssignment.count({ where: { groupId: { in: ids } } })).toBe(0)
    }
    expect(outcomes).toContain('taken')
  })
})

describe('a write that the database keeps refusing', () => {
  const { id } = samples.people
  const changed = { items: [{ id, firstName: 'refused' }] }
  const refuseWith = (code: string) =>
    world.db.$transaction(async (tx) => {
      await tx.$executeRawUnsafe(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '${code}', CONSTRAINT = 'Person_test_check'; END $$`)
      await tx.$executeRaw`CREATE TRIGGER refuse BEFORE UPDATE ON "Person" FOR EACH ROW EXECUTE FUNCTION refuse()`
    })

  it.each([
    ['a check that no rule foresees', '23514', 400, 'The database refuses a record: Person_test_check.'],
    ['a conflict that lasts', '40001', 503, 'This service is not available right now.'],
    ['a fault of its own', 'XX000', 500, 'Something went wrong on our side.'],
  ])('for %s changes nothing, and is %s: %i', async (_, code, status, message) => {
    const before = await world.db.person.findUnique({ where: { id } })
    await refuseWith(code)
    try {
      expect(await readRefusal(ofKind(world, 'people').upsert(changed))).toMatchObject({ status, message })
      expect(await world.db.person.findUnique({ where: { id } })).toEqual(before)
    } finally {
      await world.db.$executeRaw`DROP TRIGGER refuse ON "Person"`
    }
    expect(await ofKind(world, 'people').upsert(changed)).toMatchObject({ changed: 1 })
    await ofKind(world, 'people').upsert({ items: [{ id, firstName: before!.firstName }] })
  })
})
