import type { MemberEvent } from '../../prisma/generated/enums.ts'
import type { Json } from '../kernel/json.ts'
import type { Scope } from '../kernel/scopes.ts'

/** An event type, as docs/events.md describes it. */
export interface EventType {
  type: string
  /** When it is published. */
  description: string
  /** An example of `data`. */
  example: Json
}

/** One of the service's own, which the portal describes in German too. */
interface OwnEventType extends EventType {
  german: string
}

export const testEventType: OwnEventType = {
  type: 'webhook.test',
  description:
    'The team of the app sends a test event. It is sent only to the address that the team chooses, not to subscribers.',
  german: 'Das Team der App sendet ein Testereignis. Es geht nur an die gewählte Adresse, nicht an Abonnements.',
  example: { message: 'This is a test event.' },
}

export const quizReviewedType: OwnEventType = {
  type: 'quiz.reviewed',
  description: 'A result of the member has been reviewed, in a test academy by the team of the app.',
  german: 'Ein Ergebnis des Mitglieds wurde bewertet, in der Test-Akademie vom Team der App.',
  example: { academyId: 'academy', quizId: 'open-quiz', resultId: 'result-1', memberId: 'anna' },
}

/** An event about a member. With a scope, the app needs a consent that has it. */
interface MemberEventType extends OwnEventType {
  scope?: Scope
}

const example = { organisationId: 'riverside', memberId: 'anna', changedAt: '2026-11-25T09:30:00.000Z' }

const aboutAnswer = (path: string, scope: Scope): MemberEventType => ({
  type: `member.${path}.changed`,
  description: `The answer of GET /me/${path} for the member may have changed.`,
  german: `Die Antwort von GET /me/${path} hat sich für das Mitglied möglicherweise geändert.`,
  example,
  scope,
})

export const memberEventTypes: Readonly<Record<MemberEvent, MemberEventType>> = {
  profile: aboutAnswer('profile', 'svc.me.profile:read'),
  groups: aboutAnswer('groups', 'svc.me.groups:read'),
  events: aboutAnswer('events', 'svc.me.events:read'),
  trainingplans: aboutAnswer('trainingplans', 'svc.me.trainingplans:read'),
  competitions: aboutAnswer('competitions', 'svc.me.competitions:read'),
  membercard: aboutAnswer('membercard', 'svc.me.membercard:read'),
  left: {
    type: 'member.left',
    description: 'The membership has ended, or the person was erased: delete what you store about them.',
    german:
      'Die Mitgliedschaft ist beendet, oder die Person wurde gelöscht: gespeicherte Daten über sie sind zu löschen.',
    example,
  },
  consentWithdrawn: {
    type: 'consent.withdrawn',
    description: 'The member no longer allows any client of the app access.',
    german: 'Das Mitglied erlaubt keinem Client der App mehr den Zugriff.',
    example,
  },
  dataRequested: {
    type: 'member.data_requested',
    description: 'The member asks for a copy of their data: send it to them before the deadline.',
    german: 'Das Mitglied fordert eine Kopie seiner Daten an: Sie ist ihm vor Ablauf der Frist zu senden.',
    example: {
      organisationId: 'riverside',
      memberId: 'anna',
      requestId: '0193a1f4-7c00-7000-8000-000000000001',
      deadline: '2026-12-25T09:30:00.000Z',
    },
  },
  quizReviewed: { ...quizReviewedType, scope: 'lms.me.quizzes:read' },
}

const own: readonly OwnEventType[] = [testEventType, ...Object.values(memberEventTypes)]

/** The service's own types, as the API documents name none; the platform describes others (event-catalogue.ts). */
export const eventTypes: readonly EventType[] = own.map(({ type, description, example }) => ({
  type,
  description,
  example,
}))

/** The German descriptions of the service's own types. */
export const germanDescriptions: ReadonlyMap<string, string> = new Map(own.map(({ type, german }) => [type, german]))
