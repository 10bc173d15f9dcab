const answers = {
  type: 'object',
  additionalProperties: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
}
const schema = {
  body: { type: 'object', required: ['answers'], properties: { answers } },
  response: {
    201: {
      type: 'object',
      properties: {
        id: { type: 'string' },
        score: { type: 'number' },
        passed: { type: 'boolean' },
        reviewStatus: { type: 'string' },
        gradedQuestions: { type: 'integer' },
      },
    },
  },
}

function isCorrect({ type, solution }, answer) {
  if (type === 'single') return solution.includes(answer)
  return answer?.length === solution.length && solution.every((text) => answer.includes(text))
}

export const quizRoute = (prisma) => async (app) => {
  app.post('/:quizId/results', { schema }, async ({ caller, params, body }, reply) => {
    const quiz = await prisma.quiz.findFirst({
      where: { id: params.quizId, academyId: caller.club, state: { not: 'draft' } },
      select: {
        ...{ id: true, state: true, threshold: true, lessonId: true },
        questions: { select: { id: true, type: true, solution: true }, orderBy: { position: 'asc' } },
      },
    })
    if (quiz?.state !== 'released') return reply.code(404).send({ detail: 'Unknown quiz.' })
    const graded = quiz.questions.map((question) => {
      const answer = body.answers[question.id]
      return { questionId: question.id, value: JSON.stringify(answer), correct: isCorrect(question, answer) }
    })
    const share = graded.filter(({ correct }) => correct).length / graded.length
    const passed = share * 100 >= quiz.threshold
    const result = {
      id: crypto.randomUUID(),
      score: Math.round(share * 10_000) / 100,
      passed,
      reviewStatus: passed ? 'passed' : 'failed',
      gradedQuestions: graded.length,
    }
    const submittedAt = new Date()
    const { threshold, lessonId } = quiz
    await prisma.$transaction([
      prisma.quizResult.create({
        data: { ...result, quizId: quiz.id, personId: caller.member, threshold, submittedAt },
        select: { id: true },
      }),
      prisma.answer.createMany({ data: graded.map((answer) => ({ resultId: result.id, quizId: quiz.id, ...answer })) }),
      ...(lessonId === null
        ? []
        : [
            prisma.lessonCompletion.createMany({
              data: [{ lessonId, personId: caller.member, completedAt: submittedAt }],
              skipDuplicates: true,
            }),
          ]),
    ])
    return reply.code(201).send(result)
  })
}
