import { randomUUID } from 'node:crypto'
import { grade } from '../routers/quizzes/grade.ts'
import { answers, QUIZ } from './member-data.ts'
import type { BenchedRoute } from './routes.ts'

const read = {
  name: 'quiz-read',
  text: `SELECT state, threshold, "lessonId", "attemptsAllowed",
      (SELECT json_agg(json_build_object('id', id, 'type', type, 'solution', solution) ORDER BY position)
       FROM "Question" WHERE "quizId" = quiz.id) AS questions
    FROM "Quiz" quiz WHERE id = $1 AND "academyId" = $2 AND state <> 'draft'`,
}

const write = {
  name: 'quiz-write',
  text: `WITH result AS (
      INSERT INTO "QuizResult" (id, "quizId", "personId", score, passed, "reviewStatus", "gradedQuestions", threshold, "submittedAt")
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
    ), completion AS (
      INSERT INTO "LessonCompletion" ("lessonId", "personId", "completedAt") SELECT $10, $3, $9 WHERE $10::text IS NOT NULL
      ON CONFLICT DO NOTHING
    )
    INSERT INTO "Answer" ("resultId", "quizId", "questionId", value, correct)
    SELECT $1, $2, * FROM unnest($11::text[], $12::text[], $13::bool[])`,
}

/** An attempt without an idempotency key. The bare handler reads, grades by the service's own rules, and writes. */
export const quizRoute: BenchedRoute = {
  target: 1.8,
  section: 'lms',
  share: 5,
  method: 'POST',
  path: () => `/v1/quizzes/${QUIZ}/results`,
  body: JSON.stringify({ answers }),
  async bare(pool, { club: academy, member }, path, body) {
    const quizId = path.split('/')[3]!
    const { rows } = await pool.query({ ...read, values: [quizId, academy] })
    const [quiz] = rows
    if (quiz?.state !== 'released') throw new Error('no quiz')
    const { outcomes, ...grades } = grade(quiz, JSON.parse(body).answers)
    const result = { id: randomUUID(), ...grades }
    const { id, score, passed, reviewStatus, gradedQuestions } = result
    const stored = [id, quizId, member, score, passed, reviewStatus, gradedQuestions, quiz.threshold, new Date()]
    const values = outcomes.map(({ answer }) => (answer === undefined ? null : JSON.stringify(answer)))
    const columns = [outcomes.map((one) => one.questionId), values, outcomes.map((one) => one.correct)]
    await pool.query({ ...write, values: [...stored, quiz.lessonId, ...columns] })
    return JSON.stringify(result)
  },
}
