const choice = (type: 'single' | 'multiple', text: string, options: string[], ...solution: string[]) => ({
  type,
  text,
  options,
  solution,
})
const open = (type: 'text' | 'image' | 'file', text: string) => ({ type, text, options: [], solution: [] })

const colour = choice('single', 'Which colour is the flag that lets the race begin?', ['Red', 'Green', 'Blue'], 'Green')

export const questions = {
  'choice-quiz': [
    colour,
    choice('single', 'How many runners does a relay team have?', ['2', '3', '4'], '4'),
    choice('multiple', 'Which of the exercises A to D train the legs?', ['A', 'B', 'C', 'D'], 'A', 'C'),
  ],
  'open-quiz': [
    choice('single', 'Is warming up before the training mandatory?', ['Yes', 'No'], 'Yes'),
    open('text', 'Describe how you would begin a session with children.'),
    open('image', 'Show how you would set up circuit training.'),
    open('file', 'Hand in your training plan.'),
  ],
  'once-quiz': [colour],
  'closed-quiz': [colour],
  'unreleased-quiz': [colour],
  'other-quiz': [colour],
}

export const quizzes = {
  lesson: [{ id: 'lesson-1', academyId: 'academy', title: 'Grundlagen' }],
  quiz: [
    { id: 'choice-quiz', title: 'Grundlagen', threshold: 60, lessonId: 'lesson-1' },
    { id: 'open-quiz', title: 'Practice', threshold: 50 },
    { id: 'once-quiz', title: 'Final examination', threshold: 60, attemptsAllowed: 1 },
    { id: 'closed-quiz', title: 'Prüfung 2019', threshold: 60, state: 'closed' as const },
    { id: 'empty-quiz', title: 'Noch ohne Fragen', threshold: 60 },
    { id: 'unreleased-quiz', title: 'Next year', threshold: 60, state: 'draft' as const },
    { id: 'other-quiz', title: 'Judging', threshold: 60, academyId: 'other-academy' },
  ].map((quiz) => ({ academyId: 'academy', state: 'released' as const, ...quiz })),
  question: Object.entries(questions).flatMap(([quizId, list]) =>
    list.map((question, index) => ({ quizId, id: `q${index + 1}`, position: index + 1, ...question })),
  ),
}

/** After its review. */
export const result = {
  id: 'result-1',
  quizId: 'open-quiz',
  personId: 'anna',
  threshold: 50,
  gradedQuestions: 1,
  score: 75,
  passed: true,
  reviewStatus: 'passed' as const,
}

export const answers = [
  { questionId: 'q1', value: '"Yes"', correct: true },
  { questionId: 'q2', value: '"With a game."', correct: true },
  { questionId: 'q3', value: '"https://images.example.org/circuit.jpg"', correct: true },
  { questionId: 'q4', value: null, correct: false },
].map((answer) => ({ resultId: 'result-1', quizId: 'open-quiz', ...answer }))
