import { describe, expect, it } from 'vitest'
import { isPostgresText } from '../../routers/kernel/access.ts'
import { refusalOf, startModelRows } from './model-rows.ts'

startModelRows()

describe('an id', () => {
  const insert = 'INSERT INTO "Discipline" (id, name) VALUES ($1, \'\')'
  const code = (text: string) => text.replace(/[^!-~]/gu, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`)

  it.each([
    ...['a', 'RS 2041-7', 'Müller', '日本語', 'नमस्ते', 'می‌خواهم', '😀', '👩‍🚀', '../%00', "o'neil", '__proto__'],
    ...['x'.repeat(255), '漢'.repeat(255), '😀'.repeat(255)],
  ])('may be %s', async (id) => {
    expect(await refusalOf(insert, [id])).toBeNull()
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
    expect(await refusalOf(insert, [id])).toBe('Discipline_id_check')
  })

  it.each(['x', '漢', '😀'])('has at most 255 characters: %s', async (one) => {
    const long = one.repeat(256)
    expect(await refusalOf(insert, [long])).toBe('Discipline_id_check')
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
    const row = async (table: string, values: Record<string, unknown>) => {
      const names = Object.keys(values)
        .map((name) => `"${name}"`)
        .join()
      const places = Object.keys(values)
        .map((_, i) => `$${i + 1}`)
        .join()
      expect(
        await refusalOf(`INSERT INTO "${table}" (${names}) VALUES (${places})`, Object.values(values)),
        table,
      ).toBeNull()
    }
    const time = new Date()
    await row('Organisation', { id: club, kind: 'club', name: '' })
    await row('Organisation', { id: academy, kind: 'academy', name: '' })
    await row('Person', { id: anna, firstName: '', lastName: '', email: ascii(1024) })
    await row('Membership', { organisationId: club, personId: anna })
    await row('Group', { id: group, clubId: club, name: '' })
    await row('GroupMembership', { groupId: group, personId: anna, role: 'member' })
    await row('Calendar', { id: calendar, clubId: club, name: '', visible: true })
    await row('Event', {
      id: event,
      clubId: club,
      title: '',
      start: time,
      end: time,
      location: '',
      calendarId: calendar,
    })
    await row('EventGroup', { eventId: event, groupId: group, clubId: club })
    await row('TrainingPlan', { id: plan, clubId: club, name: '', category: '', description: '' })
    await row('PlanAssignment', { planId: plan, groupId: group, clubId: club })
    await row('Competition', { id: cup, hostId: club, name: '' })
    await row('Participation', { competitionId: cup, clubId: club })
    await row('Discipline', { id: discipline, name: '' })
    await row('CompetitionResult', {
      id: long(),
      competitionId: cup,
      disciplineId: discipline,
      personId: anna,
      score: 1,
      timestamp: time,
    })
    await row('MemberCard', {
      serial: long(),
      clubId: club,
      personId: anna,
      status: '',
      name: '',
      memberNumber: '',
      departments: [],
    })
    await row('Lesson', { id: lesson, academyId: academy, title: '' })
    await row('Quiz', { id: quiz, academyId: academy, title: '', threshold: 1, lessonId: lesson })
    await row('Question', { quizId: quiz, id: question, position: 1, type: 'text', text: '' })
    await row('QuizResult', {
      id: ascii(255),
      quizId: quiz,
      personId: anna,
      score: 1,
      passed: true,
      reviewStatus: 'passed',
      gradedQuestions: 1,
      threshold: 1,
      submittedAt: time,
    })
    await row('LessonCompletion', { lessonId: lesson, personId: anna, completedAt: time })
    await row('App', { id: app, name: '', teamId: 'team', providerId: 'provider' })
    await row('Client', { id: app, name: '', environment: 'production', teamId: 'team', appId: app })
    await row('IdempotencyRecord', {
      clientId: app,
      personId: anna,
      organisationId: academy,
      quizId: quiz,
      key: ascii(255),
      bodyHash: '',
      answer: '',
      createdAt: time,
    })
    await row('StorageEntry', {
      appId: app,
      clubId: club,
      owner: anna,
      memberId: anna,
      collection: ascii(64),
      key: ascii(64),
      value: '1',
    })
    await row('Consent', { id: ascii(100), personId: anna, organisationId: club, clientId: app })
  })
})
