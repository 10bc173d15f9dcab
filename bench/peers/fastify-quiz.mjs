import { graded } from '../routes/quiz.ts'
import { int, object, text } from './schemas.mjs'

const answer = { anyOf: [text, { type: 'array', items: text }] }
const schema = {
  body: { ...object({ answers: { type: 'object', additionalProperties: answer } }), required: ['answers'] },
  response: {
    201: object({
      id: text,
      score: { type: 'number' },
      passed: { type: 'boolean' },
      reviewStatus: text,
      gradedQuestions: int,
    }),
  },
}

export const quizRoute = (prisma) => async (app) => {
  app.post('/:quizId/results', { schema }, async ({ caller, params, body }, reply) => {
    const quiz = await prisma.quiz.findFirst({
      where: { id: params.quizId, academyId: caller.club, state: { not: 'draft' } },
      select: {
        id: true,
        state: true,
        threshold: true,
        lessonId: true,
        questions: { select: { id: true, type: true, solution: true }, orderBy: { position: 'asc' } },
      },
    })
    if (quiz?.state !== 'released') return reply.code(404).send({ detail: 'Unknown quiz.' })
    const { result, corrected } = graded(quiz, body.answers)
    const { threshold, lessonId, id: quizId } = quiz
    const [personId, submittedAt] = [caller.member, new Date()]
    const completion = { lessonId, personId, completedAt: submittedAt }
    await prisma.$transaction([
      prisma.quizResult.create({ data: { ...result, quizId, personId, threshold, submittedAt }, select: { id: true } }),
      prisma.answer.createMany({ data: corrected.map((answer) => ({ resultId: result.id, quizId, ...answer })) }),
      ...(lessonId ? [prisma.lessonCompletion.createMany({ data: [completion], skipDuplicates: true })] : []),
    ])
    return reply.code(201).send(result)
  })
}
