import { PNG } from 'pngjs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../prisma/client.ts'
import { isEmpty, moveDemoEvents, seed } from '../../prisma/seed.ts'
import { memberScopesAt } from '../../routers/kernel/scopes.ts'
import { ask } from '../support/ask.ts'
import { migratedDatabase } from '../support/databases.ts'
import { openTestDatabase } from '../support/test-database.ts'

const DAY_MS = 86_400_000
const now = new Date('2028-02-29T23:30:00.123Z')

/** A database of its own: the demo data has fixed ids. */
let url: string
let db: Database
let wasEmpty: boolean
beforeAll(async () => {
  url = await migratedDatabase(afterAll)
  db = openTestDatabase(url)
  wasEmpty = await isEmpty(db)
  await seed(db, now, memberScopesAt)
  return () => db.$disconnect()
})

/** Every row of every table except the migrations'. */
async function everything() {
  const tables = await db.$queryRaw<{ name: string }[]>`
    SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE '\\_%' ORDER BY 1`
  const rows = tables.map(async (table) => [
    table.name,
    await db.$queryRawUnsafe(
      `SELECT coalesce(jsonb_agg(to_jsonb(t) - $1::text[] ORDER BY t::text), '[]')::text FROM "${table.name}" t`,
      // They count the moves of events.
      ['sequence', 'modifiedAt'],
    ),
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

  it.each<[string, string, string[]]>([
    [
      'organisations',
      `SELECT kind || ' ' || id FROM "Organisation" ORDER BY 1`,
      [
        ...['academy academy', 'academy other-academy', 'club northgate', 'club riverside'],
        ...['provider other-provider', 'provider provider'],
      ],
    ],
    [
      'members',
      `SELECT "personId" || ': ' || string_agg("organisationId" || CASE WHEN "leftAt" < '${now.toISOString()}' THEN ' (left)' ELSE '' END,
         ', ' ORDER BY "organisationId") FROM "Membership" GROUP BY "personId" ORDER BY 1`,
      [
        ...['anna: academy, provider, riverside', 'ben: academy, provider, riverside'],
        ...['cara: academy, provider, riverside (left)', 'dora: academy, northgate, provider'],
        'emil: northgate, riverside',
      ],
    ],
    [
      'people',
      `SELECT id || ' ' || coalesce(birthday::text, 'no birthday') || CASE WHEN image = '' THEN '' ELSE ', with a picture' END
         FROM "Person" WHERE "firstName" <> '' AND "lastName" <> '' AND email <> '' ORDER BY 1`,
      ['anna 1991-04-17, with a picture', 'ben no birthday', 'cara 2000-02-29', 'dora 1987-12-31', 'emil 1979-08-05'],
    ],
    [
      'groups',
      `SELECT "personId" || ', ' || role || ' of ' || "groupId" FROM "GroupMembership" JOIN "Group" ON "Group".id = "groupId"
         WHERE "clubId" = 'riverside' UNION ALL SELECT id FROM "Group" WHERE "clubId" = 'riverside' ORDER BY 1`,
      [
        ...['anna, member of seniors', 'anna, trainer of youth', 'ben, member of youth', 'board'],
        ...['emil, member of seniors', 'seniors', 'youth'],
      ],
    ],
    [
      'cards',
      `SELECT "personId" || ' ' || "clubId" || ' ' || status || ' until ' || "validUntil" FROM "MemberCard" ORDER BY 1`,
      ['anna riverside valid until 2029-12-31', 'emil riverside valid until 2027-12-31'],
    ],
    [
      'apps',
      `SELECT "App".id || ' of ' || "teamId" || ', ' || level || ', at ' || "providerId" || ', ' || state
         || CASE WHEN logo IS NULL OR homepage IS NULL THEN '' ELSE ', with a logo' END
         FROM "App" JOIN "Team" ON "Team".id = "teamId" WHERE "webhookUrl" IS NULL AND "webhookSecret" IS NULL ORDER BY 1`,
      [
        'example-app of builders, developer, at provider, active, with a logo',
        'foreign-app of builders, developer, at other-provider, active',
        'hobby-app of hobbyists, hobby, at provider, active, with a logo',
        'reference-app of builders, developer, at provider, active',
        'suspended-app of builders, developer, at provider, suspended',
        'trainer-app of builders, developer, at provider, active, with a logo',
      ],
    ],
    [
      'clients',
      `SELECT id || ' of ' || coalesce("appId", "teamId", 'the platform') || ', ' || environment FROM "Client" ORDER BY 1`,
      [
        ...['example-app of example-app, production', 'hobby-app of hobby-app, production'],
        ...['no-app of builders, production', 'platform of the platform, production'],
        ...['reference of reference-app, production', 'trainer-app of trainer-app, production'],
        'trainer-app-sandbox of trainer-app, sandbox',
      ],
    ],
    [
      'events',
      `SELECT "Event".id || ' ' || state || coalesce(', calendar ' || visible, '') || coalesce(', ' || "groupId", '')
         || ', day ' || "Event".start::date - '${now.toISOString()}'::date FROM "Event"
         LEFT JOIN "Calendar" ON "Calendar".id = "calendarId" LEFT JOIN "EventGroup" ON "eventId" = "Event".id ORDER BY 1`,
      [
        ...['board-meeting published, board, day 6', 'closed-calendar published, calendar false, day 16'],
        ...['club-party published, day 9', 'draft-event draft, day 20'],
        ...['open-calendar published, calendar true, day 14', 'summer-camp published, day 200'],
        'youth-training published, youth, day 2',
      ],
    ],
    [
      'training plans',
      `SELECT id || ', exercises: ' || (SELECT count(*) FROM "Exercise" WHERE "planId" = id) || ', ' || (SELECT
         string_agg("groupId", ' ' ORDER BY "groupId") FROM "PlanAssignment" WHERE "planId" = id) FROM "TrainingPlan" ORDER BY 1`,
      ['plan-board, exercises: 1, board', 'plan-strength, exercises: 3, seniors youth'],
    ],
    [
      'results',
      `SELECT result.id || ' of ' || "personId" || ' at ' || "hostId" || coalesce(', with ' || "clubId", '') FROM "CompetitionResult" result
         JOIN "Competition" cup ON cup.id = result."competitionId" LEFT JOIN "Participation" part ON part."competitionId" = cup.id ORDER BY 1`,
      [
        ...['result-away of anna at northgate, with riverside', 'result-foreign of anna at northgate'],
        'result-hosted of anna at riverside, with northgate',
      ],
    ],
    [
      'quizzes',
      `SELECT concat_ws(' ', id, "academyId", state, threshold, "lessonId", "attemptsAllowed") FROM "Quiz" ORDER BY 1`,
      [
        ...[
          'choice-quiz academy released 60 lesson-1',
          'closed-quiz academy closed 60',
          'empty-quiz academy released 60',
        ],
        ...['once-quiz academy released 60 1', 'open-quiz academy released 50', 'other-quiz other-academy released 60'],
        'unreleased-quiz academy draft 60',
      ],
    ],
    [
      'questions',
      `SELECT concat_ws(' ', "quizId", id, type, array_to_string(options, '/'), array_to_string(solution, '/'))
         FROM "Question" ORDER BY "quizId", position`,
      [
        ...['choice-quiz q1 single Red/Green/Blue Green', 'choice-quiz q2 single 2/3/4 4'],
        ...['choice-quiz q3 multiple A/B/C/D A/C', 'closed-quiz q1 single Red/Green/Blue Green'],
        ...['once-quiz q1 single Red/Green/Blue Green', 'open-quiz q1 single Yes/No Yes'],
        ...['open-quiz q2 text  ', 'open-quiz q3 image  ', 'open-quiz q4 file  '],
        ...['other-quiz q1 single Red/Green/Blue Green', 'unreleased-quiz q1 single Red/Green/Blue Green'],
      ],
    ],
  ])('has the %s', async (_, sql, rows) => {
    expect((await ask(url, sql)).map((row) => Object.values(row)[0])).toEqual(rows)
  })

  it('has no entries in the storage', async () => {
    expect(await db.storageEntry.count()).toBe(0)
  })

  it('has logos of 96 pixels', async () => {
    const logos = (await db.app.findMany()).flatMap(({ logo }) =>
      logo ? [PNG.sync.read(Buffer.from(logo)).width] : [],
    )
    expect(new Set(logos)).toEqual(new Set([96]))
  })
})
