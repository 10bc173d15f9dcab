import { EVENTS_KEPT_DAYS } from './night.ts'

/**
 * The bound of a table's rows. `kept`: the days, counted from the column, after which housekeeping or an import removes a row; the
 * table fills for as long, or for `fills` days. `grows`: the cause of its growth. `still`: its number of rows does not grow.
 */
export type Bound = { kept: number; by: string; fills?: number } | { grows: string } | 'still'

/** KEEP_EVENTS_DAYS; one that a receiver refuses stays until the last attempt, 28 hours after the first, and the next night. */
const EVENTS = 30 + 2
/** SIGNING_KEY_DAYS, the night in which the next one is made, its wait, a day of a card's, and the night in which this one goes. */
const KEYS = { kept: 93, by: 'createdAt' }
const PLATFORM = { grows: 'what the platform imports' }
const STORAGE = { grows: 'the entries that apps keep' }

/** Each table of the schema: one that is new has to be thought of here. Periods are those of docs/housekeeping.md. */
export const bounds: Readonly<Record<string, Bound>> = {
  Organisation: 'still',
  Person: PLATFORM,
  Membership: PLATFORM,
  Guardian: 'still',
  Group: 'still',
  GroupMembership: 'still',
  Calendar: 'still',
  Event: { kept: EVENTS_KEPT_DAYS, by: 'end' },
  EventGroup: 'still',
  CalendarFeed: 'still',
  TrainingPlan: 'still',
  Exercise: 'still',
  PlanAssignment: 'still',
  Competition: 'still',
  Participation: 'still',
  Discipline: 'still',
  CompetitionResult: 'still',
  MemberCard: 'still',
  Team: 'still',
  TeamMember: 'still',
  TeamInvitation: 'still',
  TeamRequest: 'still',
  MailSettings: 'still',
  Mail: { kept: 3, by: 'createdAt' },
  AuditEntry: { grows: 'changes by teams, for two years' },
  App: 'still',
  Client: 'still',
  ClientSecret: 'still',
  StorageEntry: STORAGE,
  StorageUsage: STORAGE,
  StorageChange: { kept: 30, by: 'at' },
  StorageRequest: { kept: 1, by: 'createdAt' },
  StorageCollection: STORAGE,
  CollectionRule: 'still',
  Lesson: 'still',
  Quiz: 'still',
  Question: 'still',
  QuizResult: 'still',
  Answer: 'still',
  LessonCompletion: 'still',
  IdempotencyRecord: 'still',
  Consent: { grows: 'sign-ins, for a year and KEEP_CONSENTS_DAYS' },
  DataRequest: 'still',
  ClubApproval: 'still',
  ChildRequest: 'still',
  // A grant's end is a year ahead.
  OauthRecord: { kept: 0, by: 'expiresAt', fills: 365 },
  SigningKey: KEYS,
  RsaSigningKey: KEYS,
  CardKey: KEYS,
  ExternalKeySet: 'still',
  LoginIdentity: 'still',
  LoginCode: { kept: 0, by: 'sentAt' },
  Subscription: 'still',
  PublishedEvent: { kept: EVENTS, by: 'publishedAt' },
  EventFeed: 'still',
  MemberChange: { kept: 0, by: 'at' },
  EventKind: 'still',
  Delivery: { kept: EVENTS, by: 'createdAt' },
  DeliveryAttempt: { kept: EVENTS, by: 'at' },
  RefusedRequest: { kept: 7, by: 'at' },
  AnsweredRequest: { kept: 7, by: 'at' },
  FailedSignIn: { kept: 7, by: 'at' },
  ClientUsage: { kept: 30, by: 'at' },
  Housekeeping: 'still',
  SecretsKeyCheck: 'still',
}
