import type { MemberEvent } from '../../prisma/generated/enums.ts'
import type { Json } from '../kernel/json.ts'
import type { Scope } from '../kernel/scopes.ts'

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
    'A result of the member has been reviewed. In its test academy, the team of the app reviews it in the portal: this is sent to the webhooks of all apps of the team.',
  example: { academyId: 'academy', quizId: 'open-quiz', resultId: 'result-1', memberId: 'anna' },
}

/** An event about a member. With a scope, the app needs a consent that has it. */
export interface MemberEventKind extends EventKind {
  scope?: Scope
}

const aboutMember = (type: string, description: string, scope?: Scope): MemberEventKind => ({
  type,
  description,
  example: { organisationId: 'riverside', memberId: 'anna', changedAt: '2026-11-25T09:30:00.000Z' },
  ...(scope && { scope }),
})

const answerOf = (path: string) => `The answer of GET /me/${path} for the member may have changed.`

export const memberEventKinds: Readonly<Record<MemberEvent, MemberEventKind>> = {
  profile: aboutMember('member.profile.changed', answerOf('profile'), 'svc.me.profile:read'),
  groups: aboutMember('member.groups.changed', answerOf('groups'), 'svc.me.groups:read'),
  events: aboutMember('member.events.changed', answerOf('events'), 'svc.me.events:read'),
  trainingplans: aboutMember('member.trainingplans.changed', answerOf('trainingplans'), 'svc.me.trainingplans:read'),
  competitions: aboutMember('member.competitions.changed', answerOf('competitions'), 'svc.me.competitions:read'),
  membercard: aboutMember('member.membercard.changed', answerOf('membercard'), 'svc.me.membercard:read'),
  left: aboutMember(
    'member.left',
    'The membership has ended, or the person was erased: delete what you store about them.',
  ),
  consentWithdrawn: aboutMember('consent.withdrawn', 'The member no longer allows any client of the app access.'),
  quizReviewed: { ...quizReviewedKind, scope: 'lms.me.quizzes:read' },
}

/** The service's own types, as the API documents name none; the platform describes others (event-catalogue.ts). */
export const eventKinds: readonly EventKind[] = [
  testKind,
  ...Object.values(memberEventKinds).map(({ type, description, example }) => ({ type, description, example })),
]
