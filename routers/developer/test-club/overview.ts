import { z } from 'zod'
import type { Database } from '../../../prisma/client.ts'
import { bool, instant, int, json, jsonArray, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { CONSENT_MS } from '../../kernel/access.ts'
import { internal } from '../../kernel/endpoint.ts'
import { personLabel } from '../../kernel/labels.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { unix } from '../../kernel/time.ts'
import { roleIn } from '../access/roles.ts'
import { idOr, named } from '../shared/schemas.ts'

/** A reset stores fewer; these bound the answer. */
const MAX_QUIZZES = 20
const MAX_REVIEWS = 20
/** Characters of an answer. */
const MAX_ANSWER = 1_000
const MAX_ALLOWED = 20

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

const member = named.extend({
  belongs: z.boolean().meta({ description: 'Whether they are a member of the club' }),
  allows: z
    .array(named.extend({ app: z.string().nullable() }))
    .meta({ description: `Clients that they allow access, with the name of the app; at most ${MAX_ALLOWED}` }),
})

const testClub = z.object({
  club: named,
  academy: named,
  provider: named.nullable().meta({ description: 'Null in a test club of an earlier release; a reset adds it' }),
  app: named.nullable().meta({ description: 'The app of the provider' }),
  members: z.array(member),
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
    return { testClub: await findTestClub(ctx.core.db, team, ctx.core.now()) }
  })

type Named = z.input<typeof named>
const columns = { id: text, name: text }

const statements = {
  organisations: statement(
    'test_organisations',
    'SELECT id, name, kind FROM "Organisation" WHERE "testTeamId" = $team',
    { team: text },
    {
      ...columns,
      kind: oneOf('club', 'academy', 'provider'),
    },
  ),
  app: statement(
    'test_app',
    'SELECT id, name FROM "App" WHERE "teamId" = $team AND "providerId" = $provider LIMIT 1',
    { team: text, provider: text },
    columns,
  ),
  members: statement(
    'test_club_members',
    `SELECT person.id, ${personLabel('person')} AS name, "leftAt" IS NULL OR "leftAt" > $now AS belongs,
        (SELECT coalesce(json_agg(allowed ORDER BY name, id), '[]') FROM (
          SELECT DISTINCT client.id, client.name, app.name AS app
          FROM "Consent" JOIN "Membership" own USING ("organisationId", "personId")
            JOIN "Client" client ON client.id = "clientId" LEFT JOIN "App" app ON app.id = client."appId"
          WHERE "personId" = person.id AND (own."leftAt" IS NULL OR own."leftAt" > $now)
            AND "withdrawnAt" IS NULL AND "Consent"."createdAt" > $consentedAfter
          LIMIT ${MAX_ALLOWED}) allowed) AS allows
      FROM "Membership" JOIN "Person" person ON person.id = "personId"
      WHERE "organisationId" = $club ORDER BY "firstName", person.id`,
    { club: text, now: instant, consentedAfter: instant },
    { ...columns, belongs: bool, allows: jsonArray<z.input<typeof member>['allows'][number]>() },
  ),
  groups: statement(
    'test_groups',
    'SELECT id, name FROM "Group" WHERE "clubId" = $club ORDER BY id LIMIT 50',
    { club: text },
    columns,
  ),
  quizzes: statement(
    'test_quizzes',
    `SELECT id, title AS name, state, (SELECT coalesce(json_agg(json_build_object('id', question.id, 'type', type, 'text', text,
          'options', coalesce(options, '{}'), 'solution', coalesce(solution, '{}')) ORDER BY position), '[]')
        FROM "Question" question WHERE "quizId" = quiz.id) AS questions
      FROM "Quiz" quiz WHERE "academyId" = $academy ORDER BY title, id LIMIT ${MAX_QUIZZES}`,
    { academy: text },
    {
      ...columns,
      state: oneOf('draft', 'released', 'closed'),
      questions: jsonArray<z.input<typeof quiz>['questions'][number]>(),
    },
  ),
  reviews: statement(
    'test_reviews',
    `SELECT result.id AS result, ${unix('"submittedAt"')} AS "submittedAt",
        json_build_object('id', quiz.id, 'name', quiz.title) AS quiz,
        json_build_object('id', person.id, 'name', ${personLabel('person')}) AS member,
        (SELECT coalesce(json_agg(json_build_object('question', text, 'value', value) ORDER BY "questionId"), '[]')
          FROM "Answer" answer JOIN "Question" question ON question."quizId" = answer."quizId" AND question.id = "questionId"
          WHERE "resultId" = result.id AND correct IS NULL) AS answers
      FROM "Quiz" quiz JOIN "QuizResult" result ON "quizId" = quiz.id JOIN "Person" person ON person.id = "personId"
      WHERE "academyId" = $academy AND "reviewStatus" = 'pending_review' ORDER BY result."submittedAt", result.id LIMIT ${MAX_REVIEWS}`,
    { academy: text },
    {
      result: text,
      submittedAt: int,
      quiz: json<Named>(),
      member: json<Named>(),
      answers: jsonArray<{ question: string; value: string | null }>(),
    },
  ),
}

async function findTestClub(db: Database, team: string, now: number): Promise<z.input<typeof testClub> | null> {
  const found = await db.execute(statements.organisations, { team })
  const [club, academy, provider = null] = (['club', 'academy', 'provider'] as const).map((kind) =>
    found.find((one) => one.kind === kind),
  )
  if (!club || !academy) return null
  const [apps, members, groups, quizzes, reviews] = await Promise.all([
    provider ? db.execute(statements.app, { team, provider: provider.id }) : [],
    db.execute(statements.members, { club: club.id, now, consentedAfter: now - CONSENT_MS }),
    db.execute(statements.groups, { club: club.id }),
    db.execute(statements.quizzes, { academy: academy.id }),
    readReviews(db, academy.id),
  ])
  return { club, academy, provider, app: apps[0] ?? null, members, groups, quizzes, reviews }
}

async function readReviews(db: Database, academy: string) {
  const rows = await db.execute(statements.reviews, { academy })
  return rows.map(({ answers, ...row }) => ({
    ...row,
    answers: answers.map(({ question, value }) => ({
      question,
      value: value === null ? null : [...value].slice(0, MAX_ANSWER).join(''),
    })),
  }))
}
