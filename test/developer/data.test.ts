import { beforeAll, describe, expect, it } from 'vitest'
import { readRefusal } from '../support/platform.ts'
import { id } from '../support/tenant.ts'
import { teamWorld } from './team-world.ts'

const here = teamWorld()
const app = () => here.world.ids.app
const page = { limit: 50, offset: 0 }

let testClub: string
let testMember: string
beforeAll(async () => {
  await here.as(here.owner).testClub.reset({ team: here.world.ids.team })
  const { testClub: found } = await here.as(here.owner).testClub.get({ team: here.world.ids.team })
  testClub = found!.club.id
  testMember = found!.members[0]!.id
  await here.world.db.storageEntry.deleteMany({ where: { appId: app() } })
})

interface Entry {
  club: string
  owner: string
  key: string
  value: string
  writer?: string
}

/** Stores an entry of the tenant's app as its members do; returns its ETag. */
async function store({ club, owner, key, value, writer }: Entry) {
  await here.world.db.$executeRaw`SELECT FROM storage_write(${app()}, ${club}, ${owner}, 'notes', ${key}, ${value},
    gen_random_uuid(), '2026-11-25T12:00:00Z'::timestamptz, ${10_485_760n}::int8, null, null, ${writer ?? null}, false)`
  return `"${(await readRow({ club, owner, key })).version}"`
}
const readRow = ({ club: clubId, owner, key }: Omit<Entry, 'value' | 'writer'>) =>
  here.world.db.storageEntry.findUniqueOrThrow({
    where: { address: { appId: app(), clubId, owner, collection: 'notes', key } },
  })
const storedValue = async (of: Omit<Entry, 'value' | 'writer'>) => (await readRow(of)).value
const at = (club: string, owner: string) => ({ app: app(), club, owner, collection: 'notes' })
const notThere = { status: 404, message: 'This key does not exist.' }

describe('the data of an app in its test club', () => {
  it('is listed for each person of the team: stores, collections, entries, and a value byte for byte', async () => {
    const value = '{"b":1, "a":1.0,\n"a":2}'
    const etag = await store({ club: testClub, owner: '', key: 'shared', value })
    await store({ club: testClub, owner: testMember, key: 'own', value: '"x"' })
    const { data } = here.as(here.colleague)
    const { items } = await data.stores({ app: app(), ...page })
    expect(items).toMatchObject([{ club: { id: testClub }, environment: 'sandbox', bytes: value.length + 3 }])
    const { items: collections, environment } = await data.collections({ app: app(), club: testClub, ...page })
    expect(environment).toBe('sandbox')
    expect(collections).toEqual([
      { owner: null, collection: 'notes', entries: 1 },
      { owner: { id: testMember, name: expect.stringMatching(/\w+ \w+/) }, collection: 'notes', entries: 1 },
    ])
    const entry = { bytes: value.length, updatedAt: 1_795_608_000, updatedBy: null, etag }
    const { items: entries, more } = await data.entries({ ...at(testClub, ''), ...page })
    expect([entries, more]).toEqual([[{ key: 'shared', ...entry }], false])
    expect(await data.entry({ ...at(testClub, ''), key: 'shared' })).toMatchObject({ ...entry, value, owner: null })
    expect(await data.entry({ ...at(testClub, testMember), key: 'own' })).toMatchObject({ value: '"x"' })
  })

  it('has who made and who last changed a shared entry', async () => {
    const writer = await here.world.db.person.findUniqueOrThrow({ where: { id: testMember } })
    const named = { id: testMember, name: `${writer.firstName} ${writer.lastName}` }
    const etag = await store({ club: testClub, owner: '', key: 'named', value: '1', writer: testMember })
    const { data } = here.as(here.owner)
    const input = { ...at(testClub, ''), key: 'named' }
    const listed = async () => {
      const { items } = await data.entries({ ...at(testClub, ''), ...page })
      return items.find(({ key }) => key === 'named')
    }
    expect(await listed()).toMatchObject({ updatedBy: named })
    expect(await data.entry(input)).toMatchObject({ createdBy: named, updatedBy: named })
    const changed = await data.put({ ...input, etag, value: '2' })
    expect(await listed()).toMatchObject({ updatedBy: null })
    expect(await data.entry(input)).toMatchObject({ createdBy: named, updatedBy: null })
    await data.remove({ ...input, etag: changed.etag })
  })

  it('comes in pages', async () => {
    const { data } = here.as(here.owner)
    const keys = async (offset: number) => {
      const { items, more } = await data.entries({ ...at(testClub, ''), limit: 1, offset })
      return [items.map(({ key }) => key), more]
    }
    await store({ club: testClub, owner: '', key: 'a', value: '1' })
    await store({ club: testClub, owner: '', key: 'z', value: '1' })
    expect([await keys(0), await keys(1), await keys(2), await keys(3)]).toEqual([
      [['a'], true],
      [['shared'], true],
      [['z'], false],
      [[], false],
    ])
    expect(await data.collections({ app: app(), club: testClub, limit: 1, offset: 1 })).toMatchObject({
      items: [{ owner: { id: testMember } }],
      more: false,
    })
  })

  it('has no value above 64 KiB', async () => {
    const value = `"${'x'.repeat(64 * 1024 - 1)}"`
    await store({ club: testClub, owner: '', key: 'large', value })
    const entry = () => here.as(here.owner).data.entry({ ...at(testClub, ''), key: 'large' })
    expect(await entry()).toMatchObject({ bytes: value.length, value: null })
    await store({ club: testClub, owner: '', key: 'large', value: value.replace('x', '') })
    expect(await entry()).toMatchObject({ value: expect.any(String) })
  })

  it('is changed and removed by who has read it', async () => {
    const of = { club: testClub, owner: testMember, key: 'edited' }
    const etag = await store({ ...of, value: '1' })
    const { data } = here.as(here.colleague)
    const input = { ...at(testClub, testMember), key: 'edited' }
    const changed = await data.put({ ...input, etag, value: ' {"n": 1.0} ' })
    expect([await storedValue(of), changed.etag]).toEqual(['{"n": 1.0}', `"${(await readRow(of)).version}"`])

    const stale = { status: 409, reason: 'changed_meanwhile' }
    expect(await readRefusal(data.put({ ...input, etag, value: '2' }))).toMatchObject(stale)
    expect(await readRefusal(data.remove({ ...input, etag }))).toMatchObject(stale)
    expect(await readRefusal(data.put({ ...input, etag: '', value: '2' }))).toMatchObject(stale)
    expect(await storedValue(of)).toBe('{"n": 1.0}')
    await data.remove({ ...input, etag: changed.etag })
    expect(await readRefusal(data.entry(input))).toMatchObject(notThere)
    expect(await readRefusal(data.remove({ ...input, etag: changed.etag }))).toMatchObject(stale)
    expect(await readRefusal(data.put({ ...input, etag: changed.etag, value: '2' }))).toMatchObject(stale)
  })

  it.each([
    ['no JSON', '{"a":}'],
    ['two values', '1 2'],
    ['nothing', ' '],
    ['257 lists', '['.repeat(257) + ']'.repeat(257)],
  ])('refuses %s as a value, and keeps the former one', async (_, value) => {
    const of = { club: testClub, owner: '', key: 'kept' }
    const etag = await store({ ...of, value: '1' })
    const put = here.as(here.owner).data.put({ ...at(testClub, ''), key: 'kept', etag, value })
    const message = 'The value must be one JSON value, with arrays and objects at most 256 levels deep.'
    expect(await readRefusal(put)).toMatchObject({ status: 400, message })
    expect(await storedValue(of)).toBe('1')
  })

  it('is limited by the quota', async () => {
    const of = { club: testClub, owner: '', key: 'full' }
    const etag = await store({ ...of, value: '1' })
    const { core } = here.world
    const [quota, { bytes }] = [
      core.storageQuotaBytes,
      await here.world.db.storageUsage.findUniqueOrThrow({ where: { of: { appId: app(), clubId: testClub } } }),
    ]
    core.storageQuotaBytes = Number(bytes)
    const put = here.as(here.owner).data.put({ ...at(testClub, ''), key: 'full', etag, value: '11' })
    expect(await readRefusal(put)).toMatchObject({ status: 413 })
    core.storageQuotaBytes = quota
    expect(await storedValue(of)).toBe('1')
  })
})

describe('the data of an app in another club', () => {
  const club = () => here.world.ids.club
  /** Makes a person of the team a member of the club. */
  const join = (personId: string) =>
    here.world.db.membership.createMany({ data: { organisationId: club(), personId }, skipDuplicates: true })
  const leave = (personId: string) =>
    here.world.db.membership.deleteMany({ where: { organisationId: club(), personId } })
  const mine = () => ({ club: club(), owner: here.owner, key: 'mine' })
  beforeAll(async () => {
    await join(here.owner)
    await store({ club: club(), owner: '', key: 'shared', value: '1' })
    await store({ ...mine(), value: '2' })
    await store({ club: club(), owner: here.world.ids.member, key: 'theirs', value: '"secret"' })
  })

  it('is shown to an owner who is a member: shared entries and their own, read-only', async () => {
    const { data } = here.as(here.owner)
    const { items } = await data.stores({ app: app(), ...page })
    expect(items.map(({ club, environment }) => [club.id, environment])).toEqual([
      [testClub, 'sandbox'],
      [club(), 'production'],
    ])
    const collections = await data.collections({ app: app(), club: club(), ...page })
    expect(collections.items.map(({ owner }) => owner?.id ?? '')).toEqual(['', here.owner])
    expect(await data.entry({ ...at(club(), ''), key: 'shared' })).toMatchObject({
      value: '1',
      environment: 'production',
    })
    const { etag, value } = await data.entry({ ...at(club(), here.owner), key: 'mine' })
    expect(value).toBe('2')
    const input = { ...at(club(), here.owner), key: 'mine', etag }
    expect(await readRefusal(data.put({ ...input, value: '3' }))).toMatchObject(notThere)
    expect(await readRefusal(data.remove(input))).toMatchObject(notThere)
    expect(await storedValue(mine())).toBe('2')
  })

  it('never has the private entries of other members', async () => {
    const { data } = here.as(here.owner)
    const theirs = at(club(), here.world.ids.member)
    expect(await readRefusal(data.entries({ ...theirs, ...page }))).toMatchObject(notThere)
    expect(await readRefusal(data.entry({ ...theirs, key: 'theirs' }))).toMatchObject(notThere)
    expect(await readRefusal(data.put({ ...theirs, key: 'theirs', etag: '"*"', value: '1' }))).toMatchObject(notThere)
    const all = await data.collections({ app: app(), club: club(), ...page })
    expect(JSON.stringify(all)).not.toContain(here.world.ids.member)
  })

  it.each([
    ['a developer of the team', () => here.colleague, true],
    ['an owner who is no member', () => here.owner, false],
  ])('is not shown to %s', async (_, person, isMember) => {
    if (isMember) await join(person())
    else await leave(person())
    const { data } = here.as(person())
    const { items } = await data.stores({ app: app(), ...page })
    expect(items.map(({ club }) => club.id)).toEqual([testClub])
    expect(await readRefusal(data.collections({ app: app(), club: club(), ...page }))).toMatchObject(notThere)
    expect(await readRefusal(data.entries({ ...at(club(), ''), ...page }))).toMatchObject(notThere)
    expect(await readRefusal(data.entry({ ...at(club(), ''), key: 'shared' }))).toMatchObject(notThere)
    await leave(here.colleague)
    await join(here.owner)
  })

  it('is not shown once the membership has ended', async () => {
    const where = { organisationId: club(), personId: here.owner }
    await here.world.db.membership.updateMany({ where, data: { leftAt: new Date(here.world.now() * 1000 - 1) } })
    const read = here.as(here.owner).data.entry({ ...at(club(), ''), key: 'shared' })
    expect(await readRefusal(read)).toMatchObject(notThere)
    await here.world.db.membership.updateMany({ where, data: { leftAt: null } })
  })
})

describe('the data of another team’s app', () => {
  it('is refused in every call, in its test club too, and nothing changes', async () => {
    const of = { club: testClub, owner: '', key: 'kept' }
    const etag = await store({ ...of, value: '1' })
    const { data } = here.as(here.stranger)
    const input = { ...at(testClub, ''), key: 'kept' }
    const refused = { status: 404, message: 'This app does not exist.' }
    expect(await readRefusal(data.stores({ app: app(), ...page }))).toMatchObject(refused)
    expect(await readRefusal(data.collections({ app: app(), club: testClub, ...page }))).toMatchObject(refused)
    expect(await readRefusal(data.entries({ ...at(testClub, ''), ...page }))).toMatchObject(refused)
    expect(await readRefusal(data.entry(input))).toMatchObject(refused)
    expect(await readRefusal(data.put({ ...input, etag, value: '2' }))).toMatchObject(refused)
    expect(await readRefusal(data.remove({ ...input, etag }))).toMatchObject(refused)
    expect(await storedValue(of)).toBe('1')
  })

  it('of a test club of another team is refused as well', async () => {
    const { world, stranger, strangers, owner } = here
    await here.as(stranger).testClub.reset({ team: strangers })
    const { testClub: theirs } = await here.as(stranger).testClub.get({ team: strangers })
    const { data } = here.as(owner)
    expect(await readRefusal(data.collections({ app: world.ids.app, club: theirs!.club.id, ...page }))).toMatchObject(
      notThere,
    )
    expect(await readRefusal(data.collections({ app: world.ids.app, club: id('none'), ...page }))).toMatchObject(
      notThere,
    )
  })
})
