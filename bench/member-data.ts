import type { Database } from '../prisma/client.ts'

const range = (count: number) => Array.from({ length: count }, (_, i) => i)
const HOUR = 3_600_000

/** What `me/*` reads: 3 groups, 20 events that are seen, 6 plans, 10 results and a card. */
export async function createMemberData(db: Database, clubId: string, personId: string) {
  const now = Date.now()
  await db.group.createMany({ data: range(5).map((i) => ({ id: `group-${i}`, clubId, name: `Group ${i}` })) })
  await db.groupMembership.createMany({
    data: range(3).map((i) => ({ groupId: `group-${i}`, personId, role: i === 0 ? 'trainer' : 'member' })),
  })
  await db.calendar.create({ data: { id: 'calendar', clubId, name: 'Calendar', visible: true } })
  await db.event.createMany({
    data: range(24).map((i) => ({
      ...{ id: `event-${i}`, clubId, title: `Training ${i}`, location: 'Boathouse', state: 'published' as const },
      ...{ start: new Date(now + (i + 24) * HOUR), end: new Date(now + (i + 26) * HOUR) },
      calendarId: i % 3 === 0 ? 'calendar' : null,
    })),
  })
  // Four are for a group that the member is not in.
  await db.eventGroup.createMany({
    data: range(24)
      .filter((i) => i % 3 === 1)
      .map((i) => ({ eventId: `event-${i}`, groupId: `group-${i % 2 === 0 ? 0 : 3}`, clubId })),
  })
  await db.trainingPlan.createMany({
    data: range(6).map((i) => ({
      id: `plan-${i}`,
      clubId,
      name: `Plan ${i}`,
      category: 'Fitness',
      description: 'Row.',
    })),
  })
  await db.exercise.createMany({ data: range(60).map((i) => ({ planId: `plan-${i % 6}`, position: i, name: 'Row' })) })
  await db.planAssignment.createMany({
    data: range(6).map((i) => ({ planId: `plan-${i}`, groupId: `group-${i % 3}`, clubId })),
  })
  await db.competition.create({ data: { id: 'regatta', hostId: clubId, name: 'Regatta' } })
  await db.discipline.create({ data: { id: 'single', name: 'Single scull' } })
  await db.competitionResult.createMany({
    data: range(10).map((i) => ({
      ...{ id: `result-${i}`, competitionId: 'regatta', disciplineId: 'single', personId },
      ...{ place: i + 1, score: i + 0.5, timestamp: new Date(now - i * HOUR) },
    })),
  })
  await db.memberCard.create({
    data: {
      ...{ serial: 'C-1', clubId, personId, status: 'valid', name: 'Mia Member', memberNumber: '1042' },
      ...{ departments: ['Rowing', 'Sailing'], validUntil: new Date(now + 365 * 24 * HOUR) },
    },
  })
}

/** The quiz of the bench: eight questions with choices, of a lesson, with any number of attempts. */
export const QUIZ = 'quiz'
const choices = ['Red', 'Green', 'Blue']
const questions = range(8).map((position) => {
  const type = position < 6 ? ('single' as const) : ('multiple' as const)
  const solution = choices.slice(0, type === 'single' ? 1 : 2)
  return { id: `q${position}`, quizId: QUIZ, position, type, text: 'Which colour?', options: choices, solution }
})

/** Two are wrong. */
export const answers = Object.fromEntries(
  questions.map(({ id, type, solution }, i) => [
    id,
    i === 0 ? 'Blue' : i === 7 ? ['Red'] : type === 'single' ? solution[0] : solution,
  ]),
)

export async function createQuiz(db: Database, academyId: string) {
  await db.lesson.create({ data: { id: 'lesson', academyId, title: 'Lesson' } })
  await db.quiz.create({
    data: { id: QUIZ, academyId, title: 'Quiz', threshold: 60, lessonId: 'lesson', state: 'released' },
  })
  await db.question.createMany({ data: questions })
}
