import type { Json } from '../kernel/json.ts'

/** A kind of event, as docs/events.md describes it. */
export interface EventKind {
  type: string
  /** When it is published. */
  description: string
  /** An example of `data`. */
  example: Json
}

export const testKind: EventKind = {
  type: 'webhook.test',
  description: 'The team of the app sends a test event. It is sent only to the webhook of the app, not to subscribers.',
  example: { message: 'This is a test event.' },
}

export const quizReviewedKind: EventKind = {
  type: 'quiz.reviewed',
  description:
    'The team of the app reviews a result of its test academy in the portal. It is sent to the webhooks of all apps of the team.',
  example: { academyId: 'academy', quizId: 'open-quiz', resultId: 'result-1', memberId: 'anna' },
}

/** The service's own types, as the API documents name none; the platform describes others (event-catalogue.ts). */
export const eventKinds: readonly EventKind[] = [testKind, quizReviewedKind]
