import { describe, expect, it } from 'vitest'
import { isPostgresText } from '../../routers/kernel/access.ts'
import { readRefusal, startModelRows } from './model-rows.ts'

startModelRows()

describe('an id', () => {
  const insert = 'INSERT INTO "Discipline" (id, name) VALUES ($1, \'\')'
  const code = (text: string) => text.replace(/[^!-~]/gu, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`)

  it.each([
    ...['a', 'RS 2041-7', 'Müller', '日本語', 'नमस्ते', 'می‌خواهم', '😀', '👩‍🚀', '../%00', "o'neil", '__proto__'],
    ...['x'.repeat(255), '漢'.repeat(255), '😀'.repeat(255)],
  ])('may be %s', async (id) => {
    expect(await readRefusal(insert, [id])).toBeNull()
    expect(isPostgresText(id)).toBe(true)
  })

  it.each(
    [
      '',
      ' ',
      ' a',
      'a ',
      'a\tb',
      'a\nb',
      '\u0001',
      '\u007f',
      '\u0085',
      'a\u00a0b',
      '\u200b',
      '\u202eabc',
      '\u2028',
      '\u3000',
      '\ufeffa',
    ].map((id) => [code(id), id]),
  )('is not "%s"', async (_, id) => {
    expect(await readRefusal(insert, [id])).toBe('Discipline_id_check')
  })

  it.each(['x', '漢', '😀'])('has at most 255 characters: %s', async (one) => {
    const long = one.repeat(256)
    expect(await readRefusal(insert, [long])).toBe('Discipline_id_check')
    expect(isPostgresText(long)).toBe(false)
  })

  it('of the greatest size fits into every index', async () => {
    // Random, as an index compresses what repeats.
    const long = () =>
      Array.from({ length: 255 }, () => String.fromCodePoint(0x20000 + Math.floor(Math.random() * 0xa000))).join('')
    const [club, academy, anna, group, event, plan, calendar, lesson, quiz, discipline, cup, question] = Array.from(
      { length: 12 },
      long,
    )
    const ascii = (length: number) =>
      Array.from({ length }, () => String.fromCharCode(97 + Math.floor(Math.random() * 26))).join('')
    const app = ascii(255)
    const [card, result, attempt, grant, entry] = [long(), long(), ascii(255), ascii(100), ascii(64)]
    const member = `'${club}', '${anna}'`
    for (const row of [
      `"Organisation" VALUES ('${club}', 'club', ''), ('${academy}', 'academy', '')`,
      `"Person" (id, "firstName", "lastName", email) VALUES ('${anna}', '', '', '${ascii(1024)}')`,
      `"Membership" ("organisationId", "personId") VALUES (${member})`,
      `"Group" (id, "clubId", name) VALUES ('${group}', '${club}', '')`,
      `"GroupMembership" ("groupId", "personId", role) VALUES ('${group}', '${anna}', 'member')`,
      `"Calendar" (id, "clubId", name, visible) VALUES ('${calendar}', '${club}', '', true)`,
      `"Event" (id, "clubId", title, start, "end", location, "calendarId")
         VALUES ('${event}', '${club}', '', now(), now(), '', '${calendar}')`,
      `"EventGroup" VALUES ('${event}', '${group}', '${club}')`,
      `"TrainingPlan" (id, "clubId", name, category, description) VALUES ('${plan}', '${club}', '', '', '')`,
      `"PlanAssignment" VALUES ('${plan}', '${group}', '${club}')`,
      `"Competition" (id, "hostId", name) VALUES ('${cup}', '${club}', '')`,
      `"Participation" VALUES ('${cup}', '${club}')`,
      `"Discipline" (id, name) VALUES ('${discipline}', '')`,
      `"CompetitionResult" (id, "competitionId", "disciplineId", "personId", score, timestamp)
         VALUES ('${result}', '${cup}', '${discipline}', '${anna}', 1, now())`,
      `"MemberCard" (serial, "clubId", "personId", status, name, "memberNumber", departments)
         VALUES ('${card}', ${member}, '', '', '', '{}')`,
      `"Lesson" (id, "academyId", title) VALUES ('${lesson}', '${academy}', '')`,
      `"Quiz" (id, "academyId", title, threshold, "lessonId") VALUES ('${quiz}', '${academy}', '', 1, '${lesson}')`,
      `"Question" ("quizId", id, position, type, text) VALUES ('${quiz}', '${question}', 1, 'text', '')`,
      `"QuizResult" (id, "quizId", "personId", score, passed, "reviewStatus", "gradedQuestions", threshold, "submittedAt")
         VALUES ('${attempt}', '${quiz}', '${anna}', 1, true, 'passed', 1, 1, now())`,
      `"LessonCompletion" ("lessonId", "personId", "completedAt") VALUES ('${lesson}', '${anna}', now())`,
      `"App" (id, name, "teamId", "providerId") VALUES ('${app}', '', 'team', 'provider')`,
      `"Client" (id, name, environment, "teamId", "appId") VALUES ('${app}', '', 'production', 'team', '${app}')`,
      `"IdempotencyRecord" VALUES ('${app}', '${anna}', '${academy}', '${quiz}', '${ascii(255)}', '', '', now())`,
      `"StorageEntry" ("appId", "clubId", owner, "memberId", collection, key, value)
         VALUES ('${app}', ${member}, '${anna}', '${entry}', '${entry}', '1')`,
      `"StorageRequest" VALUES ('${app}', ${member}, '${app}', '${ascii(255)}', 'PUT', sha256(''), '{stored}', '{NULL}', 0, 1, now())`,
      `"Consent" (id, "personId", "organisationId", "clientId") VALUES ('${grant}', '${anna}', '${club}', '${app}')`,
    ]) {
      expect(await readRefusal(`INSERT INTO ${row}`), row).toBeNull()
    }
  })
})
