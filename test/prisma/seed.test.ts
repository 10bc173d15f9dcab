import { randomUUID } from 'node:crypto'
import { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { migrate } from '../../prisma/migrate.ts'
import { isEmpty, moveDemoEvents, seed } from '../../prisma/seed.ts'
import { memberScopesAt } from '../../routers/kernel/scopes.ts'
import { pgClient } from '../support/pg-client.ts'
import { openTestDatabase } from '../support/test-database.ts'

const DAY_MS = 86_400_000
const now = new Date('2028-02-29T23:30:00.123Z')

/** A database of its own: the demo data has fixed ids. */
const name = `seed_${randomUUID().replaceAll('-', '')}`
const url = new URL(inject('databaseUrl'))
let db: Database
let wasEmpty: boolean

const onServer = async (statement: string) => {
  const client = pgClient(url.href)
  await client.connect()
  await client.query(statement).finally(() => client.end())
}
beforeAll(async () => {
  await onServer(`CREATE DATABASE ${name}`)
  const own = Object.assign(new URL(url), { pathname: `/${name}` }).href
  await migrate(own)
  db = openTestDatabase(own)
  wasEmpty = await isEmpty(db)
  await seed(db, now, memberScopesAt)
})
afterAll(async () => {
  await db.$disconnect()
  await onServer(`DROP DATABASE ${name} WITH (FORCE)`)
})

const ids = async (rows: Promise<{ id: string }[]>) => (await rows).map(({ id }) => id).sort()
const person = (id: string) =>
  db.person.findUniqueOrThrow({
    where: { id },
    include: { memberships: true, groups: true, cards: true, results: true },
  })

/** Every row of every table except the migrations'. */
async function everything() {
  const tables = await db.$queryRaw<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE '\\_%' ORDER BY 1`
  const rows = tables.map(async (table) => [
    table.name,
    await db.$queryRawUnsafe(`SELECT coalesce(jsonb_agg(t ORDER BY t::text), '[]')::text FROM "${table.name}" t`),
  ])
  return Object.fromEntries(await Promise.all(rows)) as Record<string, unknown>
}

describe('the demo data', () => {
  it('makes isEmpty false', async () => {
    expect([wasEmpty, await isEmpty(db)]).toEqual([true, false])
  })

  it('is unchanged by loading it again, at another time or twice at once, but for the times of events', async () => {
    const before = await everything()
    await seed(db, now, memberScopesAt)
    expect(await everything()).toEqual(before)
    await Promise.all([1, 2].map((years) => seed(db, new Date(now.getTime() + years * 365 * DAY_MS), memberScopesAt)))
    const { Event: _, ...rest } = await everything()
    expect(before).toMatchObject(rest)
    await seed(db, now, memberScopesAt)
    expect(await everything()).toEqual(before)
  })

  it('has events that move with the day, other events do not', async () => {
    const own = { id: 'own-event', clubId: 'riverside', title: 'Own', location: '', start: now, end: now }
    await db.event.create({ data: own })
    const times = async () => {
      const events = await db.event.findMany({ select: { id: true, start: true } })
      return new Map(events.map(({ id, start }) => [id, start.getTime()]))
    }
    const before = await times()
    await moveDemoEvents(db, new Date(now.getTime() + 40 * DAY_MS))
    for (const [id, start] of await times()) expect(start - before.get(id)!).toBe(id === own.id ? 0 : 40 * DAY_MS)
    await db.event.delete({ where: { id: own.id } })
    await moveDemoEvents(db, now)
    expect([...(await times())]).toHaveLength(7)
  })

  it('keeps changed rows and restores missing ones', async () => {
    await db.group.update({ where: { id: 'seniors' }, data: { name: 'Masters' } })
    await db.group.delete({ where: { id: 'board' } })
    await seed(db, now, memberScopesAt)
    expect((await db.group.findUnique({ where: { id: 'seniors' } }))?.name).toBe('Masters')
    expect(await db.event.findUnique({ where: { id: 'board-meeting' } })).not.toBeNull()
  })

  it('has the organisations', async () => {
    const rows = await db.organisation.findMany({ orderBy: { id: 'asc' } })
    expect(rows.map(({ id, kind }) => [id, kind])).toEqual([
      ['academy', 'academy'],
      ['northgate', 'club'],
      ['other-academy', 'academy'],
      ['other-provider', 'provider'],
      ['provider', 'provider'],
      ['riverside', 'club'],
    ])
  })

  it('has the people', async () => {
    const all = ['anna', 'ben', 'cara', 'dora', 'emil']
    expect(await ids(db.person.findMany())).toEqual(all)
    const [anna, ben, cara, dora, emil] = await Promise.all(all.map(person))
    const clubsOf = (one: typeof anna) =>
      one!.memberships.map((row) => [row.organisationId, row.leftAt !== null]).sort()
    const both = [
      ['academy', false],
      ['provider', false],
    ]
    expect(clubsOf(anna)).toEqual([...both, ['riverside', false]])
    expect(clubsOf(ben)).toEqual([...both, ['riverside', false]])
    expect(clubsOf(cara)).toEqual([...both, ['riverside', true]])
    expect(clubsOf(dora)).toEqual([['academy', false], ['northgate', false], ...both.slice(1)])
    expect(cara!.memberships.find(({ leftAt }) => leftAt)!.leftAt!.getTime()).toBeLessThan(now.getTime())

    const { birthday, cards, groups, results, firstName, lastName, email, image } = anna!
    expect([firstName, lastName, email, image].every((value) => value.length > 0)).toBe(true)
    expect(birthday).toBeInstanceOf(Date)
    expect(groups.map(({ groupId, role }) => [groupId, role]).sort()).toEqual([
      ['seniors', 'member'],
      ['youth', 'trainer'],
    ])
    expect(cards).toMatchObject([{ clubId: 'riverside', status: 'valid' }])
    expect(cards[0]!.validUntil!.getTime()).toBeGreaterThan(now.getTime() + 30 * DAY_MS)
    expect(results.map(({ id }) => id).sort()).toEqual(['result-away', 'result-foreign', 'result-hosted'])
    expect(ben).toMatchObject({ birthday: null, image: '', cards: [], groups: [{ groupId: 'youth', role: 'member' }] })

    expect(clubsOf(emil)).toEqual([
      ['northgate', false],
      ['riverside', false],
    ])
    expect(emil!.cards).toMatchObject([{ clubId: 'riverside', status: 'valid' }])
    expect(emil!.cards[0]!.validUntil!.getTime()).toBeLessThan(now.getTime())
  })

  it('has the teams, apps and clients', async () => {
    expect(await db.team.findMany({ select: { id: true, level: true }, orderBy: { id: 'asc' } })).toEqual([
      { id: 'builders', level: 'developer' },
      { id: 'hobbyists', level: 'hobby' },
    ])
    const apps = await db.app.findMany({ orderBy: { id: 'asc' } })
    expect(apps.map(({ id, teamId, providerId, state }) => [id, teamId, providerId, state])).toEqual([
      ['example-app', 'builders', 'provider', 'active'],
      ['foreign-app', 'builders', 'other-provider', 'active'],
      ['hobby-app', 'hobbyists', 'provider', 'active'],
      ['reference-app', 'builders', 'provider', 'active'],
      ['suspended-app', 'builders', 'provider', 'suspended'],
      ['trainer-app', 'builders', 'provider', 'active'],
    ])
    expect(apps.every(({ webhookUrl, webhookSecret }) => webhookUrl === null && webhookSecret === null)).toBe(true)
    const logos = apps.flatMap(({ id, homepage, logo }) =>
      logo && homepage ? [[id, PNG.sync.read(Buffer.from(logo)).width]] : [],
    )
    expect(logos).toEqual([
      ['example-app', 96],
      ['hobby-app', 96],
      ['trainer-app', 96],
    ])
    const clients = await db.client.findMany({ orderBy: { id: 'asc' } })
    expect(clients.map(({ id, teamId, appId, environment }) => [id, teamId, appId, environment])).toEqual([
      ['example-app', 'builders', 'example-app', 'production'],
      ['hobby-app', 'hobbyists', 'hobby-app', 'production'],
      ['no-app', 'builders', null, 'production'],
      ['platform', null, null, 'production'],
      ['reference', 'builders', 'reference-app', 'production'],
      ['trainer-app', 'builders', 'trainer-app', 'production'],
      ['trainer-app-sandbox', 'builders', 'trainer-app', 'sandbox'],
    ])
    expect(await db.storageEntry.count()).toBe(0)
  })

  it('has the groups, events and plans', async () => {
    expect(await ids(db.group.findMany({ where: { clubId: 'riverside' } }))).toEqual(['board', 'seniors', 'youth'])
    const events = await db.event.findMany({
      where: { clubId: 'riverside' },
      include: { calendar: true, groups: true },
      orderBy: { id: 'asc' },
    })
    const of = ({ groups }: (typeof events)[number]) => groups.map(({ groupId }) => groupId)
    expect(events.map((event) => [event.id, event.state, event.calendar?.visible, ...of(event)])).toEqual([
      ['board-meeting', 'published', undefined, 'board'],
      ['closed-calendar', 'published', false],
      ['club-party', 'published', undefined],
      ['draft-event', 'draft', undefined],
      ['open-calendar', 'published', true],
      ['summer-camp', 'published', undefined],
      ['youth-training', 'published', undefined, 'youth'],
    ])
    for (const { id, start, end } of events) {
      const [from, to] = id === 'summer-camp' ? [199, 206] : [0, 30]
      expect(start.getTime(), id).toBeGreaterThan(now.getTime() + from * DAY_MS)
      expect(end.getTime(), id).toBeLessThan(now.getTime() + to * DAY_MS)
    }
    const plans = await db.trainingPlan.findMany({
      include: { assignments: { orderBy: { groupId: 'asc' } }, _count: { select: { exercises: true } } },
      orderBy: { id: 'asc' },
    })
    expect(
      plans.map(({ id, assignments, _count }) => [id, _count.exercises, ...assignments.map((a) => a.groupId)]),
    ).toEqual([
      ['plan-board', 1, 'board'],
      ['plan-strength', 3, 'seniors', 'youth'],
    ])
  })

  it('has the results', async () => {
    const rows = await db.competitionResult.findMany({
      include: { competition: { include: { participations: true } } },
      orderBy: { id: 'asc' },
    })
    const clubs = rows.map(({ id, competition }) => [
      id,
      competition.hostId === 'riverside',
      competition.participations.some(({ clubId }) => clubId === 'riverside'),
    ])
    expect(clubs).toEqual([
      ['result-away', false, true],
      ['result-foreign', false, false],
      ['result-hosted', true, false],
    ])
  })

  it('has the quizzes', async () => {
    const quizzes = await db.quiz.findMany({ include: { questions: { orderBy: { position: 'asc' } } } })
    const rows = quizzes.map((quiz) => [
      quiz.id,
      [quiz.academyId, quiz.state, quiz.threshold, quiz.lessonId, quiz.attemptsAllowed],
      quiz.questions.map(({ id, type, options, solution }) =>
        [id, type, options.join('/'), solution.join('/')].join(' '),
      ),
    ])
    const q1 = 'q1 single Red/Green/Blue Green'
    expect(Object.fromEntries(rows.map(([id, facts]) => [id, facts]))).toEqual({
      'choice-quiz': ['academy', 'released', 60, 'lesson-1', null],
      'open-quiz': ['academy', 'released', 50, null, null],
      'once-quiz': ['academy', 'released', 60, null, 1],
      'closed-quiz': ['academy', 'closed', 60, null, null],
      'empty-quiz': ['academy', 'released', 60, null, null],
      'unreleased-quiz': ['academy', 'draft', 60, null, null],
      'other-quiz': ['other-academy', 'released', 60, null, null],
    })
    expect(Object.fromEntries(rows.map(([id, , questions]) => [id, questions]))).toEqual({
      'choice-quiz': [q1, 'q2 single 2/3/4 4', 'q3 multiple A/B/C/D A/C'],
      'open-quiz': ['q1 single Yes/No Yes', 'q2 text  ', 'q3 image  ', 'q4 file  '],
      'once-quiz': [q1],
      'closed-quiz': [q1],
      'empty-quiz': [],
      'unreleased-quiz': [q1],
      'other-quiz': [q1],
    })
  })
})
