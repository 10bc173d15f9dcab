import { beforeAll, describe, expect, it } from 'vitest'
import { addTestClub } from '../../routers/developer/test-club/add.ts'
import { listRecords } from '../../routers/directory/list.ts'
import type { RecordTypeName } from '../../routers/directory/record-types.ts'
import { findRecordType, recordTypeNames } from '../../routers/directory/record-types.ts'
import { toLayout } from '../../routers/directory/sql.ts'
import { readContent } from '../commands/database-content.ts'
import { id } from '../support/tenant.ts'
import type { AnyRecord } from './records.ts'
import { directoryWorld, ofKind, storeAll } from './records.ts'
import { sampleRecords } from './sample-records.ts'

const world = directoryWorld()
const samples = sampleRecords()
/** By kind: a record of the platform to end. */
const ended = Object.fromEntries(recordTypeNames.map((kind) => [kind, sampleRecords()]))
const place: Record<string, string> = {}
beforeAll(async () => {
  const { db, ids } = world
  await storeAll(
    world,
    [samples, ...Object.values(ended)].map((one) => ({ samples: one })),
  )
  await db.$transaction((tx) => addTestClub(tx, { id: ids.team, name: 'Team' }, { app: null, now: new Date() }))
  const organisations = await db.organisation.findMany({ where: { testTeamId: ids.team } })
  for (const one of organisations) place[one.kind] = one.id
  place.discipline = (await db.discipline.findFirstOrThrow({ where: { testTeamId: ids.team } })).id
})

const listTests = (kind: RecordTypeName) =>
  world.db.inTransaction((client) =>
    listRecords(client, toLayout(findRecordType(kind), 'team'), { after: null, limit: 200 }),
  )
const refusals = (call: Promise<unknown>) =>
  call.then(
    () => [],
    (error) => error.refused as { field: string; reason: string }[],
  )

describe.each(recordTypeNames.filter((kind) => kind !== 'guardians'))('%s of a test club', (kind) => {
  const key = findRecordType(kind).key as readonly string[]
  const toId = (record: AnyRecord) =>
    key.length === 1 ? record[key[0]!] : Object.fromEntries(key.map((name) => [name, record[name]]))

  it('are refused as records, and stay as they are', async () => {
    const records = await listTests(kind)
    expect(records.length).toBeGreaterThan(0)
    const before = await readContent(world.url)
    const items = records.map((record) => ({ ...record, version: Number(record.version) + 1 }))
    const refused = await refusals(ofKind(world, kind).upsert({ items }))
    const reason = expect.stringMatching(/^".*["…] is in a team's test club, and stays as it is\.$/)
    expect(refused).toEqual(records.map((_, index) => ({ index, field: key[0], reason })))
    expect(await readContent(world.url)).toEqual(before)
  })

  it('are not ended, beside one of the platform', async () => {
    const tests = (await listTests(kind)).map(toId)
    const before = await readContent(world.url)
    expect(await ofKind(world, kind).end({ ids: tests })).toEqual({ ended: 0 })
    expect(await readContent(world.url)).toEqual(before)
    expect(await ofKind(world, kind).end({ ids: [...tests, toId(ended[kind]![kind])] })).toEqual({ ended: 1 })
    expect((await listTests(kind)).map(toId)).toEqual(tests)
  })
})

it('new records in a test club are refused, as of one that is not stored', async () => {
  const before = await readContent(world.url)
  const person = samples.people.id
  const records: [RecordTypeName, AnyRecord, string][] = [
    ['memberships', { organisation: place.club, person }, 'organisation'],
    ['groups', { ...samples.groups, id: id('new'), club: place.club }, 'club'],
    ['lessons', { ...samples.lessons, id: id('new'), academy: place.academy }, 'academy'],
    ['competitions', { ...samples.competitions, clubs: [place.club] }, 'clubs'],
    ['results', { ...samples.results, discipline: place.discipline }, 'discipline'],
  ]
  for (const [kind, record, field] of records) {
    const refused = await refusals(ofKind(world, kind).upsert({ items: [record] }))
    expect(refused).toEqual([{ index: 0, field, reason: expect.stringMatching(/" is not the id of an? /) }])
  }
  expect(await readContent(world.url)).toEqual(before)
})
