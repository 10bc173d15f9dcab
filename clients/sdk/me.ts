import type { Items } from './records.ts'
import type { CallOptions, Send } from './request.ts'
import { read } from './request.ts'

/** What an app reads of its member. */
export interface Me {
  profile(options?: CallOptions): Promise<Profile>
  groups(options?: CallOptions): Promise<Items<Group>>
  /** Unix seconds; by default the next 90 days, at most a year. */
  events(range?: { start?: number; end?: number }, options?: CallOptions): Promise<Items<Event>>
  trainingplans(options?: CallOptions): Promise<Items<TrainingPlan>>
  competitions(options?: CallOptions): Promise<Items<CompetitionResult>>
  membercard(options?: CallOptions): Promise<{ card: MemberCard | null }>
}

/** The default export: `export type *` of the client leaves it out. */
export default function createMe(send: Send): Me {
  const reader =
    <Answer>(path: `/me/${string}`) =>
    (options?: CallOptions) =>
      read<Answer>(send('apps', `GET ${path}`, options))
  return {
    profile: reader('/me/profile'),
    groups: reader('/me/groups'),
    events: (range, options) => read(send('apps', 'GET /me/events', { ...options, query: { ...range } })),
    trainingplans: reader('/me/trainingplans'),
    competitions: reader('/me/competitions'),
    membercard: reader('/me/membercard'),
  }
}

export interface Profile {
  id: string
  firstName: string
  lastName: string
  email: string
  /** A plain date, `YYYY-MM-DD`. */
  birthday: string | null
  /** An address; empty when there is no image. */
  image: string
}

export interface Group {
  id: string
  name: string
  role: 'member' | 'trainer'
}

export interface Event {
  id: string
  title: string
  /** Unix seconds, as all times. */
  start: number
  end: number
  location: string
}

export interface TrainingPlan {
  id: string
  name: string
  category: string
  description: string
  exerciseCount: number
  /** The group through which the member has the plan. */
  group: string
}

export interface CompetitionResult {
  id: string
  competitionId: string
  competition: string
  disciplineId: string
  place: number
  score: number
  timestamp: number
}

export interface MemberCard {
  serial: string
  status: string
  valid: boolean
  name: string
  memberNumber: string
  departments: string[]
  /** A plain date, `YYYY-MM-DD`. */
  validUntil: string
}
