import { describe, expect, it } from 'vitest'
import { client, open, readRefusal, readRows, startModelRows } from './model-rows.ts'

startModelRows()

describe('children of a club', () => {
  it.each([
    [`INSERT INTO "EventGroup" VALUES ('e', 'og', 'club')`, 'EventGroup_groupId_clubId_fkey'],
    [`INSERT INTO "EventGroup" VALUES ('e', 'og', 'other')`, 'EventGroup_eventId_clubId_fkey'],
    [`INSERT INTO "PlanAssignment" VALUES ('plan', 'og', 'club')`, 'PlanAssignment_groupId_clubId_fkey'],
    [`INSERT INTO "PlanAssignment" VALUES ('plan', 'og', 'other')`, 'PlanAssignment_planId_clubId_fkey'],
    [`UPDATE "Event" SET "calendarId" = 'ocal'`, 'Event_calendarId_clubId_fkey'],
    [`UPDATE "Quiz" SET "academyId" = 'academy2'`, 'Quiz_lessonId_academyId_fkey'],
    [`UPDATE "Event" SET "calendarId" = 'cal'`, null],
    [`INSERT INTO "EventGroup" VALUES ('e', 'g1', 'club'), ('e', 'g2', 'club')`, null],
    [`INSERT INTO "PlanAssignment" VALUES ('plan', 'g1', 'club')`, null],
  ])('stay in one club: %s', async (sql, refusal) => {
    expect(await readRefusal(sql)).toBe(refusal)
  })

  it('do not move to another club with what is tied to them', async () => {
    await client.query(`INSERT INTO "EventGroup" VALUES ('e', 'g1', 'club')`)
    expect(await readRefusal(`UPDATE "Group" SET "clubId" = 'other' WHERE id = 'g1'`)).toBe(
      'EventGroup_eventId_clubId_fkey',
    )
    expect(await readRefusal(`UPDATE "Group" SET "clubId" = 'other' WHERE id = 'g2'`)).toBeNull()
  })

  it('follow their club to another id', async () => {
    await client.query(`
      INSERT INTO "EventGroup" VALUES ('e', 'g1', 'club');
      INSERT INTO "PlanAssignment" VALUES ('plan', 'g1', 'club');
      UPDATE "Event" SET "calendarId" = 'cal';
      UPDATE "Organisation" SET id = 'renamed' WHERE id = 'club'`)
    expect(await readRows(`SELECT "clubId" FROM "EventGroup" UNION ALL SELECT "clubId" FROM "Event"`)).toEqual([
      { clubId: 'renamed' },
      { clubId: 'renamed' },
    ])
  })

  it.each([
    ['Group', `INSERT INTO "Group" (id, "clubId", name) VALUES ('x', $1, '')`, 'club'],
    ['Calendar', `INSERT INTO "Calendar" (id, "clubId", name, visible) VALUES ('x', $1, '', true)`, 'club'],
    [
      'Event',
      `INSERT INTO "Event" (id, "clubId", title, start, "end", location) VALUES ('x', $1, '', now(), now(), '')`,
      'club',
    ],
    [
      'TrainingPlan',
      `INSERT INTO "TrainingPlan" (id, "clubId", name, category, description) VALUES ('x', $1, '', '', '')`,
      'club',
    ],
    ['Participation', `INSERT INTO "Participation" VALUES ('cup', $1)`, 'club'],
    [
      'MemberCard',
      `INSERT INTO "MemberCard" (serial, "clubId", "personId", status, name, "memberNumber", departments) VALUES ('x', $1, 'anna', '', '', '', '{}')`,
      'club',
    ],
    ['StorageUsage', `INSERT INTO "StorageUsage" ("appId", "clubId") VALUES ('app', $1)`, 'club'],
    ['Lesson', `INSERT INTO "Lesson" (id, "academyId", title) VALUES ('x', $1, '')`, 'academy'],
    ['Quiz', `INSERT INTO "Quiz" (id, "academyId", title, threshold) VALUES ('x', $1, '', 1)`, 'academy'],
    ['App', `INSERT INTO "App" (id, name, "teamId", "providerId") VALUES ('x', '', 'team', $1)`, 'provider'],
  ])('of the kind %s are refused for organisations of another kind', async (table, sql, wanted) => {
    expect(await readRefusal(sql, ['nowhere'])).toMatch(new RegExp(`^${table}_\\w+_fkey$`))
    for (const kind of ['club', 'academy', 'provider']) {
      expect(await readRefusal(sql, [kind]), kind).toBe(kind === wanted ? null : `${table}_kind_check`)
    }
  })

  it('are refused after an update too, and organisations keep their kind', async () => {
    expect(await readRefusal(`UPDATE "Group" SET "clubId" = 'academy'`)).toBe('Group_kind_check')
    expect(await readRefusal('UPDATE "App" SET "providerId" = NULL')).toBe('App_provider_check')
    expect(await readRefusal(`UPDATE "Organisation" SET kind = 'academy' WHERE id = 'club'`)).toBe(
      'Organisation_kind_check',
    )
    expect(await readRefusal(`UPDATE "Organisation" SET kind = 'club', name = 'New' WHERE id = 'club'`)).toBeNull()
  })

  it('of the storage are refused through storage_write too', async () => {
    const put = (club: string) =>
      readRefusal(
        `SELECT * FROM storage_write('app', '${club}', '', 'c', 'k', '1', gen_random_uuid(), now(), 100, null, null, null, false)`,
      )
    expect(await put('academy')).toBe('StorageUsage_kind_check')
    expect(await put('club')).toBeNull()
  })
})

describe('an event', () => {
  const groups = (...ids: string[]) => ids.map((id) => `('e', '${id}', 'club')`).join()

  it('goes with the last of its groups, so that it is not shown to the whole club', async () => {
    await client.query(`INSERT INTO "EventGroup" VALUES ${groups('g1', 'g2')}; DELETE FROM "Group" WHERE id = 'g1'`)
    expect(await readRows('SELECT id FROM "Event"')).toHaveLength(1)
    await client.query(`DELETE FROM "Group" WHERE id = 'g2'`)
    expect(await readRows('SELECT id FROM "Event"')).toEqual([])
  })

  it('goes when one statement removes all its groups', async () => {
    await client.query(`INSERT INTO "EventGroup" VALUES ${groups('g1', 'g2')}`)
    await client.query(`DELETE FROM "Group" WHERE "clubId" = 'club'`)
    expect(await readRows('SELECT id FROM "Event"')).toEqual([])
  })

  it('stays in its calendar without its groups', async () => {
    await client.query(`UPDATE "Event" SET "calendarId" = 'cal'; INSERT INTO "EventGroup" VALUES ${groups('g1')}`)
    await client.query('DELETE FROM "Group"')
    expect(await readRows('SELECT id FROM "Event"')).toHaveLength(1)
  })

  it('goes when two transactions remove its last two groups', async () => {
    await client.query(`INSERT INTO "EventGroup" VALUES ${groups('g1', 'g2')}`)
    await client.query('COMMIT')
    const second = await open()
    try {
      await client.query('BEGIN')
      await client.query(`DELETE FROM "Group" WHERE id = 'g1'`)
      const [{ pid }] = (await second.query('SELECT pg_backend_pid() AS pid')).rows
      const waiting = second.query(`DELETE FROM "Group" WHERE id = 'g2'`)
      const blocked = () => client.query('SELECT FROM pg_locks WHERE pid = $1 AND NOT granted', [pid])
      await expect.poll(async () => (await blocked()).rowCount).toBeGreaterThan(0)
      await client.query('COMMIT')
      await waiting
      expect(await readRows('SELECT id FROM "Event"')).toEqual([])
    } finally {
      await second.end()
      await client.query(
        `DELETE FROM "Organisation"; DELETE FROM "Person"; DELETE FROM "Discipline"; DELETE FROM "Team"`,
      )
      await client.query('BEGIN')
    }
  })
})

describe('results and cards', () => {
  const result = (id: string, competition: string, place: string) =>
    `INSERT INTO "CompetitionResult" (id, "competitionId", "disciplineId", "personId", place, score, timestamp)
     VALUES ('${id}', '${competition}', '100m', 'anna', ${place}, 1, now())`

  it('may share a discipline between competitions', async () => {
    expect(await readRefusal(result('a', 'cup', '1'))).toBeNull()
    expect(await readRefusal(result('b', 'cup2', '1'))).toBeNull()
  })

  it.each([
    ['null', null],
    ['1', null],
    ['0', 'CompetitionResult_place_check'],
    ['-1', 'CompetitionResult_place_check'],
  ])('have the place %s: %s', async (place, refusal) => {
    expect(await readRefusal(result('a', 'cup', place))).toBe(refusal)
  })

  it.each([
    ['null', null],
    [`'9999-12-31'`, null],
    [`'0001-01-01'`, null],
    [`'12000-01-01'`, 'MemberCard_validUntil_check'],
    [`'infinity'`, 'MemberCard_validUntil_check'],
    [`'0001-12-31 BC'`, 'MemberCard_validUntil_check'],
  ])('have the end %s: %s', async (end, refusal) => {
    const sql = `INSERT INTO "MemberCard" (serial, "clubId", "personId", status, name, "memberNumber", departments, "validUntil")
      VALUES ('x', 'club', 'anna', '', '', '', '{}', ${end})`
    expect(await readRefusal(sql)).toBe(refusal)
  })
})

describe('a quiz', () => {
  it('loses its lesson, and keeps its academy', async () => {
    await client.query('DELETE FROM "Lesson"')
    expect(await readRows('SELECT "lessonId", "academyId" FROM "Quiz"')).toEqual([
      { lessonId: null, academyId: 'academy' },
    ])
  })

  it.each([
    ['single', '{A,B}', '{A}', null],
    ['single', '{A,B}', '{}', 'Question_singleSolution_check'],
    ['single', '{A,B}', '{A,B}', 'Question_singleSolution_check'],
    ['single', '{A,B}', '{C}', 'Question_offeredSolution_check'],
    ['multiple', '{A,B}', '{A,B}', null],
    ['multiple', '{A,B}', '{}', null],
    ['multiple', '{A,B}', '{A,C}', 'Question_offeredSolution_check'],
    ['multiple', null, '{A}', 'Question_offeredSolution_check'],
    ['single', '{A}', null, 'Question_singleSolution_check'],
    ['text', '{}', '{A model answer}', null],
  ])(
    'has questions of the type %s with the options %s and the solution %s: %s',
    async (type, options, solution, refusal) => {
      const sql = `INSERT INTO "Question" VALUES ('quiz', 'q', 1, $1, '?', $2, $3)`
      expect(await readRefusal(sql, [type, options, solution])).toBe(refusal)
    },
  )
})

describe('every table of a kind', () => {
  it('has a version, 0 by default', async () => {
    const found = await readRows(`
      SELECT table_name AS name FROM information_schema.columns
      WHERE column_name = 'version' AND data_type = 'bigint' AND is_nullable = 'NO' AND column_default = '0' ORDER BY 1`)
    expect(found.map(({ name }) => name)).toEqual([
      'Calendar',
      'Competition',
      'CompetitionResult',
      'Discipline',
      'Event',
      'Group',
      'GroupMembership',
      'Guardian',
      'Lesson',
      'MemberCard',
      'Membership',
      'Organisation',
      'Person',
      'Quiz',
      'TrainingPlan',
    ])
  })
})
