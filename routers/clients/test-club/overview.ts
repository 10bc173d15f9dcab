import { z } from 'zod'
import type { Database } from '../../../prisma/client.ts'
import { internal } from '../../kernel/endpoint.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { toUnix } from '../../kernel/time.ts'
import { fullName } from '../names.ts'
import { idOr, named } from '../shapes.ts'
import { roleIn } from '../teams/team-of.ts'
import { testMembersOf } from '../teams/team-people.ts'

/** A reset stores fewer; these bound the answer. */
const MAX_QUIZZES = 20
const MAX_REVIEWS = 20
/** Characters of an answer. */
const MAX_ANSWER = 1_000

const quiz = named.extend({
  state: z.enum(['draft', 'released', 'closed']),
  questions: z.array(
    z.object({
      id: z.string(),
      type: z.enum(['single', 'multiple', 'text', 'image', 'file']),
      text: z.string(),
      options: z.array(z.string()),
      solution: z.array(z.string()),
    }),
  ),
})

const review = z.object({
  result: z.string(),
  quiz: named,
  member: named,
  submittedAt: z.int().meta({ description: 'Unix seconds' }),
  answers: z
    .array(z.object({ question: z.string(), value: z.string().nullable() }))
    .meta({ description: `Answers to open questions: at most ${MAX_ANSWER} characters of their JSON text` }),
})

const testClub = z.object({
  club: named,
  academy: named,
  provider: named.nullable().meta({ description: 'Null in a test club of an earlier release; a reset adds it' }),
  app: named.nullable().meta({ description: 'The app of the provider' }),
  members: z.array(named),
  groups: z.array(named),
  quizzes: z.array(quiz),
  reviews: z.array(review).meta({ description: `Results to review, at most ${MAX_REVIEWS}, the oldest first` }),
})

export const get = internal('dev:read', teamPeople, {
  summary: "A team's test club: ids, quizzes with their solutions, results to review",
  fails: ['teamUnknown'],
})
  .input(z.object({ team: idOr('teamUnknown') }))
  .output(z.object({ testClub: testClub.nullable().meta({ description: 'Null before the first sandbox client' }) }))
  .query(async ({ ctx, input: { team } }) => {
    await roleIn(ctx, team)
    return { testClub: await testClubOf(ctx.core.db, team) }
  })

async function testClubOf(db: Database, team: string): Promise<z.input<typeof testClub> | null> {
  const found = await db.organisation.findMany({
    where: { testTeamId: team },
    select: { id: true, name: true, kind: true },
  })
  const [club, academy, provider = null] = (['club', 'academy', 'provider'] as const).map((kind) =>
    found.find((one) => one.kind === kind),
  )
  if (!club || !academy) return null
  const [app, members, groups, quizzes, reviews] = await Promise.all([
    provider &&
      db.app.findFirst({ where: { teamId: team, providerId: provider.id }, select: { id: true, name: true } }),
    testMembersOf(db, team),
    db.group.findMany({
      where: { clubId: club.id },
      select: { id: true, name: true },
      orderBy: { id: 'asc' },
      take: 50,
    }),
    quizzesOf(db, academy.id),
    reviewsOf(db, academy.id),
  ])
  return { club, academy, provider, app, members, groups, quizzes, reviews }
}

async function quizzesOf(db: Database, academyId: string) {
  const rows = await db.quiz.findMany({
    where: { academyId },
    select: {
      ...{ id: true, title: true, state: true },
      questions: {
        select: { id: true, type: true, text: true, options: true, solution: true },
        orderBy: { position: 'asc' },
      },
    },
    orderBy: [{ title: 'asc' }, { id: 'asc' }],
    take: MAX_QUIZZES,
  })
  return rows.map(({ title, ...rest }) => ({ name: title, ...rest }))
}

async function reviewsOf(db: Database, academyId: string) {
  const rows = await db.quizResult.findMany({
    where: { quiz: { academyId }, reviewStatus: 'pending_review' },
    select: {
      ...{ id: true, submittedAt: true },
      quiz: { select: { id: true, title: true } },
      person: { select: { id: true, firstName: true, lastName: true } },
      answers: {
        where: { correct: null },
        select: { value: true, question: { select: { text: true } } },
        orderBy: { questionId: 'asc' },
      },
    },
    orderBy: [{ submittedAt: 'asc' }, { id: 'asc' }],
    take: MAX_REVIEWS,
  })
  return rows.map(({ id, submittedAt, quiz, person, answers }) => ({
    result: id,
    quiz: { id: quiz.id, name: quiz.title },
    member: { id: person.id, name: fullName(person) },
    submittedAt: toUnix(submittedAt),
    answers: answers.map(({ value, question }) => ({
      question: question.text,
      value: value === null ? null : [...value].slice(0, MAX_ANSWER).join(''),
    })),
  }))
}
