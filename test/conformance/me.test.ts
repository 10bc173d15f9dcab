import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { useWorld } from '../support/started.ts'
import { newClub, newGroup, newMember, newTenant } from './me-tenant.ts'

const world = useWorld()

const date = (plain: string) => new Date(`${plain}T00:00:00Z`)
/** In the order of their UTF-8 bytes, which differs from UTF-16 and from any language's collation. */
const byBytes = ['- 0', '0', 'A', 'Z', '_', 'a', 'z', 'ä', '～', '😀']
const shuffled = ['a', '～', 'Z', 'ä', '_', '😀', '- 0', 'z', 'A', '0']

describe('GET /me/profile', () => {
  const TZ = process.env.TZ
  afterEach(() => {
    if (TZ === undefined) delete process.env.TZ
    else process.env.TZ = TZ
  })

  it('returns exactly the documented fields', async () => {
    const { member, get } = await newTenant(world)
    const data = { firstName: 'Änne', lastName: "O'Neil", email: 'ae@example.org', image: 'https://example.org/a.png' }
    await world.db.person.update({ where: { id: member }, data: { ...data, birthday: date('2000-02-29') } })
    expect(await get('/me/profile')).toEqual({ status: 200, body: { id: member, ...data, birthday: '2000-02-29' } })
  })

  it('returns null without a birthday and an empty string without an image', async () => {
    const { get } = await newTenant(world)
    expect((await get('/me/profile')).body).toMatchObject({ birthday: null, image: '' })
  })

  it("returns the token's member, whatever the query says", async () => {
    const { club, member, get } = await newTenant(world)
    const other = await newMember(world.db, club)
    expect((await get(`/me/profile?id=${other}&member=${other}`)).body.id).toBe(member)
  })

  it('returns 404 once the person is deleted, even while the membership is cached', async () => {
    const { member, get } = await newTenant(world)
    expect((await get('/me/profile')).status).toBe(200)
    await world.db.person.delete({ where: { id: member } })
    expect(await get('/me/profile')).toEqual({
      status: 404,
      body: { detail: 'This member does not exist in this club.' },
    })
  })

  it.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago'])(
    'returns the same birthday in the time zone %s',
    async (zone) => {
      const { member, get } = await newTenant(world)
      await world.db.person.update({ where: { id: member }, data: { birthday: date('1999-12-31') } })
      process.env.TZ = zone
      expect(Math.abs(new Date(0).getTimezoneOffset())).toBeGreaterThanOrEqual(600)
      expect((await get('/me/profile')).body.birthday).toBe('1999-12-31')
    },
  )
})

describe('GET /me/groups', () => {
  it('returns the groups in which the member is a member or a trainer', async () => {
    const { club, member, get } = await newTenant(world)
    const other = await newMember(world.db, club)
    const a = await newGroup(world.db, club, [[member, 'member']], { name: 'A' })
    const b = await newGroup(world.db, club, [
      [member, 'trainer'],
      [other, 'member'],
    ])
    await newGroup(world.db, club, [[other, 'member']])
    await newGroup(world.db, club)
    const items = [
      { id: a, name: 'A', role: 'member' },
      { id: b, name: 'Group', role: 'trainer' },
    ]
    expect(await get('/me/groups')).toEqual({ status: 200, body: { items } })
  })

  it('returns one item with the role trainer to a member who also trains the group', async () => {
    const { club, member, get } = await newTenant(world)
    const both = [
      [member, 'member'],
      [member, 'trainer'],
    ] as const
    const id = await newGroup(world.db, club, [...both])
    expect((await get('/me/groups')).body).toEqual({ items: [{ id, name: 'Group', role: 'trainer' }] })
  })

  it('returns the role of the member, not of others', async () => {
    const { club, member, get } = await newTenant(world)
    const other = await newMember(world.db, club)
    await newGroup(world.db, club, [
      [member, 'member'],
      [other, 'trainer'],
    ])
    expect((await get('/me/groups')).body.items).toMatchObject([{ role: 'member' }])
  })

  it("returns groups of the token's club only", async () => {
    const { member, get } = await newTenant(world)
    await newGroup(world.db, await newClub(world.db), [[member, 'member']])
    expect(await get('/me/groups')).toEqual({ status: 200, body: { items: [] } })
  })

  it('sorts by the bytes of the name, then of the id', async () => {
    const { club, member, list } = await newTenant(world)
    for (const name of shuffled) await newGroup(world.db, club, [[member, 'member']], { name })
    expect(await list('/me/groups', 'name')).toEqual(byBytes)

    const alike = await newTenant(world)
    const ids = ['-', '0', 'A', '_', 'a'].map((end) => `${alike.club}${end}`)
    for (const id of ids.toReversed()) await newGroup(world.db, alike.club, [[alike.member, 'member']], { id })
    expect(await alike.list('/me/groups')).toEqual(ids)
  })
})

describe('GET /me/trainingplans', () => {
  const newPlan = async (clubId: string, groups: string[], more: { name?: string; exercises?: string[] } = {}) => {
    const { name = 'Plan', exercises = [] } = more
    const rows = exercises.map((exercise, position) => ({ name: exercise, position }))
    const data = { id: randomUUID(), clubId, name, category: 'Strength', description: 'Twice a week' }
    const assignments = { create: groups.map((groupId) => ({ groupId })) }
    await world.db.trainingPlan.create({ data: { ...data, assignments, exercises: { create: rows } } })
    return data.id
  }

  it("returns the plans of the member's groups with their number of exercises", async () => {
    const { club, member, get } = await newTenant(world)
    const own = await newGroup(world.db, club, [[member, 'member']])
    const trained = await newGroup(world.db, club, [[member, 'trainer']])
    const foreign = await newGroup(world.db, club, [[await newMember(world.db, club), 'member']])
    const a = await newPlan(club, [own], { name: 'A', exercises: ['Squats', 'Squats', 'Plank'] })
    const b = await newPlan(club, [trained, foreign], { name: 'B' })
    await newPlan(club, [foreign])
    await newPlan(club, [])
    const plan = { category: 'Strength', description: 'Twice a week' }
    const items = [
      { id: a, name: 'A', ...plan, exerciseCount: 3, group: own },
      { id: b, name: 'B', ...plan, exerciseCount: 0, group: trained },
    ]
    expect(await get('/me/trainingplans')).toEqual({ status: 200, body: { items } })
  })

  it.each([
    { roles: ['trainer', 'member', 'member'], through: 1, says: 'the lowest as a member' },
    { roles: ['trainer', 'trainer', 'member'], through: 2, says: 'the only one as a member' },
    { roles: ['trainer', 'trainer', 'trainer'], through: 0, says: 'the lowest as a trainer' },
    { roles: ['none', 'trainer', 'both'], through: 2, says: 'the one as member and trainer' },
    { roles: ['both', 'member', 'member'], through: 0, says: 'the lowest, also as its trainer' },
    { roles: ['none', 'trainer', 'trainer'], through: 1, says: 'never a group without the member' },
  ])('returns one item for the roles $roles and names $says', async ({ roles, through }) => {
    const { club, member, get } = await newTenant(world)
    const other = await newMember(world.db, club)
    const ids = ['0', 'B', 'a'].map((end) => `${club}${end}`)
    for (const [index, role] of roles.entries()) {
      const people = role === 'both' ? ['member', 'trainer'] : role === 'none' ? [] : [role]
      const rows = people.map((each) => [member, each as 'member' | 'trainer'] as const)
      await newGroup(world.db, club, [...rows, [other, 'member']], { id: ids[index]! })
    }
    await newPlan(club, ids.toReversed())
    expect((await get('/me/trainingplans')).body.items).toMatchObject([{ group: ids[through] }])
  })

  it("returns plans of the token's club only", async () => {
    const { member, get } = await newTenant(world)
    const otherClub = await newClub(world.db)
    await newPlan(otherClub, [await newGroup(world.db, otherClub, [[member, 'member']])])
    expect(await get('/me/trainingplans')).toEqual({ status: 200, body: { items: [] } })
  })

  it('sorts by the bytes of the name, then of the id', async () => {
    const { club, member, list } = await newTenant(world)
    const group = await newGroup(world.db, club, [[member, 'member']])
    for (const name of shuffled) await newPlan(club, [group], { name })
    expect(await list('/me/trainingplans', 'name')).toEqual(byBytes)

    const alike = await newTenant(world)
    const team = await newGroup(world.db, alike.club, [[alike.member, 'trainer']])
    const ids = [
      await newPlan(alike.club, [team]),
      await newPlan(alike.club, [team]),
      await newPlan(alike.club, [team]),
    ]
    expect(await alike.list('/me/trainingplans')).toEqual(ids.sort())
  })
})

describe('GET /me/competitions', () => {
  const newCompetition = async (hostId: string, clubs: string[] = []) => {
    const data = { id: randomUUID(), hostId, name: 'Cup' }
    const participations = { create: clubs.map((clubId) => ({ clubId })) }
    await world.db.competition.create({ data: { ...data, participations } })
    const { id: disciplineId } = await world.db.discipline.create({ data: { id: randomUUID(), name: '100 m' } })
    return { competitionId: data.id, disciplineId }
  }
  type Contest = Awaited<ReturnType<typeof newCompetition>>
  const newResult = async ({ competitionId, disciplineId }: Contest, personId: string, more = {}) => {
    const data = { id: randomUUID() as string, place: 1, score: 9.5, timestamp: new Date(1_700_000_000_000), ...more }
    await world.db.competitionResult.create({ data: { ...data, competitionId, disciplineId, personId } })
    return data.id
  }

  it('returns each result in competitions that the club hosts or takes part in', async () => {
    const { club, member, get } = await newTenant(world)
    const other = await newClub(world.db)
    const hosted = await newCompetition(club)
    const away = await newCompetition(other, [club, other])
    const both = await newCompetition(club, [club, other])
    const neither = await newCompetition(other, [other])
    const a = await newResult(hosted, member, { timestamp: new Date(3_000_999), score: -0.25, place: 3 })
    const b = await newResult(away, member, { timestamp: new Date(2_000_000), score: 1e21 })
    const c = await newResult(both, member, { timestamp: new Date(1_000_000), score: 0 })
    await newResult(neither, member)
    const items = [
      { id: a, ...hosted, competition: 'Cup', place: 3, score: -0.25, timestamp: 3_000 },
      { id: b, ...away, competition: 'Cup', place: 1, score: 1e21, timestamp: 2_000 },
      { id: c, ...both, competition: 'Cup', place: 1, score: 0, timestamp: 1_000 },
    ]
    expect(await get('/me/competitions')).toEqual({ status: 200, body: { items } })
  })

  it('leaves out results without a place', async () => {
    const { club, member, list } = await newTenant(world)
    const contest = await newCompetition(club)
    const finished = await newResult(contest, member)
    await newResult(contest, member, { place: null })
    expect(await list('/me/competitions')).toEqual([finished])
  })

  it("returns the member's own results only", async () => {
    const { club, member, list } = await newTenant(world)
    const contest = await newCompetition(club)
    const own = await newResult(contest, member)
    await newResult(contest, await newMember(world.db, club))
    expect(await list('/me/competitions')).toEqual([own])
  })

  it('sorts newest first, then by the bytes of the id', async () => {
    const { club, member, list } = await newTenant(world)
    const contest = await newCompetition(club)
    const ids = ['-', '0', 'A', '_', 'a'].map((end) => `${club}${end}`)
    for (const id of ids.toReversed()) await newResult(contest, member, { id, timestamp: new Date(5_000_000) })
    const oldest = await newResult(contest, member, { timestamp: new Date(4_000_000) })
    const newest = await newResult(contest, member, { timestamp: new Date(6_000_000) })
    expect(await list('/me/competitions')).toEqual([newest, ...ids, oldest])
  })
})

describe('GET /me/membercard', () => {
  const plain = (days: number) => new Date((world.now() + days * 86_400) * 1000).toISOString().slice(0, 10)
  const newCard = async (clubId: string, personId: string, validUntil: string | null, more = {}) => {
    const data = {
      status: 'valid',
      name: 'Mo Mitglied',
      memberNumber: '007',
      departments: ['Rowing', 'Turnen'],
      ...more,
    }
    const serial = randomUUID()
    const row = { serial, clubId, personId, validUntil: validUntil && date(validUntil), ...data }
    return (await world.db.memberCard.create({ data: row })).serial
  }

  it('returns exactly the documented fields', async () => {
    const { club, member, get } = await newTenant(world)
    const serial = await newCard(club, member, '9999-12-31')
    const card = {
      name: 'Mo Mitglied',
      memberNumber: '007',
      departments: ['Rowing', 'Turnen'],
      validUntil: '9999-12-31',
    }
    expect(await get('/me/membercard')).toEqual({
      status: 200,
      body: { card: { serial, status: 'valid', valid: true, ...card } },
    })
  })

  it('returns null without a card and issues none', async () => {
    const { club, member, get } = await newTenant(world)
    await newCard(club, await newMember(world.db, club), plain(1))
    await newCard(await newClub(world.db), member, plain(1))
    expect(await get('/me/membercard')).toEqual({ status: 200, body: { card: null } })
    expect(await world.db.memberCard.count({ where: { clubId: club, personId: member } })).toBe(0)
  })

  it('returns the latest card, even if it is not valid and an earlier one is', async () => {
    const { club, member, get } = await newTenant(world)
    await newCard(club, member, plain(9), { issuedAt: new Date(1_000_000) })
    const serial = await newCard(club, member, plain(-1), { issuedAt: new Date(3_000_000) })
    await newCard(club, member, plain(9), { issuedAt: new Date(2_000_000) })
    expect((await get('/me/membercard')).body.card).toMatchObject({ serial, valid: false })
  })

  it('returns of cards issued at the same moment the one with the later serial', async () => {
    const { club, member, get } = await newTenant(world)
    const issuedAt = new Date(3_000_000)
    for (const serial of ['c-2', 'c-3', 'c-1'])
      await newCard(club, member, plain(1), { issuedAt, serial: `${club}-${serial}` })
    expect((await get('/me/membercard')).body.card.serial).toBe(`${club}-c-3`)
  })

  it('leaves out cards without an end', async () => {
    const { club, member, get } = await newTenant(world)
    await newCard(club, member, null, { issuedAt: new Date(3_000_000) })
    expect((await get('/me/membercard')).body).toEqual({ card: null })
    const serial = await newCard(club, member, plain(9), { issuedAt: new Date(1_000_000) })
    expect((await get('/me/membercard')).body.card).toMatchObject({ serial, valid: true })
  })

  it('is valid through validUntil', async () => {
    const { club, member, get } = await newTenant(world)
    await newCard(club, member, plain(0))
    expect((await get('/me/membercard')).body.card).toMatchObject({ valid: true, validUntil: plain(0) })
    await world.advance(86_400)
    expect((await get('/me/membercard')).body.card).toMatchObject({ valid: false, validUntil: plain(-1) })
  })

  it('is not valid with any other status', async () => {
    const { club, member, get } = await newTenant(world)
    await newCard(club, member, plain(9), { status: 'Valid', departments: [] })
    expect((await get('/me/membercard')).body.card).toMatchObject({ status: 'Valid', valid: false, departments: [] })
  })
})
