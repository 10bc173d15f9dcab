/*
 * What export and erasure of a person leave out, by table or by column of a table with a person, and why. A table that is in
 * neither, and not here, fails test/unit/personal-data.test.ts.
 */

const PLATFORM = "of the platform's organisations, about nobody"
const SERVICE = 'of the service itself, about nobody'
const SECRET = 'secrets with which the service knows a browser; they end by themselves'
const CLIENT_SECRETS = "hashes of the secrets of a team's clients, about nobody"
const REQUESTS = 'counts, requests and errors of clients; a member is in it as a keyed hash alone'
const SIGN_INS = 'errors of clients, without the member'
const RULES = "a team's choices for its app, about nobody"

export const notExported: Readonly<Record<string, string>> = {
  AnsweredRequest: REQUESTS,
  App: 'of a team, about nobody',
  'AuditEntry.before': "values of the team's apps and clients",
  'AuditEntry.after': "values of the team's apps and clients",
  'AuditEntry.clientId': 'the client of an app, about nobody',
  'CalendarFeed.hash': 'of the secret in an address that is exported without it',
  CardKey: SERVICE,
  ClientSecret: CLIENT_SECRETS,
  ClientUsage: REQUESTS,
  'ClubApproval.ending': 'whether consents are left that the decision ends',
  'ClubApproval.number': 'the place in the order of all changes',
  CollectionRule: RULES,
  'Consent.basis': 'the id of a consent that is exported itself',
  'Consent.shown': 'a hash of what the consent page says about an app',
  Delivery: 'what receivers answered; the platform has published the event',
  DeliveryAttempt: 'what receivers answered; the platform has published the event',
  EventFeed: 'numbers the events of an app',
  EventKind: PLATFORM,
  ExternalKeySet: SERVICE,
  FailedSignIn: SIGN_INS,
  Housekeeping: SERVICE,
  IdempotencyRecord: 'the answer to an attempt, which is among the quiz results, for 24 hours',
  LoginCode: SECRET,
  'Mail.approvalId': 'the request to a club, which the club has',
  'Mail.askedBy': 'the member who asked the club, for three days; nobody who gets the export but them',
  'Mail.consentId': 'the consent, which is exported itself',
  'Mail.childRequestId': 'the request of a child, which is exported itself',
  'Mail.invitationId': 'the invitation, which is exported itself',
  OauthRecord: SECRET,
  Participation: PLATFORM,
  PublishedEvent: 'the platform has published it',
  RefusedRequest: REQUESTS,
  RsaSigningKey: SERVICE,
  SecretsKeyCheck: SERVICE,
  SigningKey: SERVICE,
  StorageChange: 'names the entries that are exported, and for 30 days the keys of removed ones',
  StorageCollection: 'sums the entries that are exported',
  'StorageRequest.hash': 'a hash of the request, whose entries are exported',
  'StorageRequest.outcomes': 'what the request did to the entries, which are exported',
  'StorageRequest.versions': 'random numbers of the entries that are exported',
  'StorageRequest.used': 'the size of the store, about nobody',
  'StorageRequest.number': 'counts the keys that are exported',
  Subscription: "a label of the platform's own, for who receives events",
}

export const notErased: Readonly<Record<string, string>> = {
  Calendar: PLATFORM,
  CardKey: SERVICE,
  ClientSecret: CLIENT_SECRETS,
  ClientUsage: REQUESTS,
  CollectionRule: RULES,
  Competition: PLATFORM,
  Discipline: PLATFORM,
  Event: PLATFORM,
  EventFeed: 'numbers the events of an app',
  EventGroup: PLATFORM,
  EventKind: PLATFORM,
  Exercise: PLATFORM,
  ExternalKeySet: SERVICE,
  FailedSignIn: SIGN_INS,
  Group: PLATFORM,
  Housekeeping: SERVICE,
  Lesson: PLATFORM,
  Organisation: PLATFORM,
  Participation: PLATFORM,
  PlanAssignment: PLATFORM,
  Question: PLATFORM,
  Quiz: PLATFORM,
  RsaSigningKey: SERVICE,
  SecretsKeyCheck: SERVICE,
  SigningKey: SERVICE,
  StorageChange: 'triggers remove it with the membership',
  StorageCollection: 'triggers keep it, as the entries go',
  StorageRequest: 'triggers remove it with the membership',
  StorageUsage: 'triggers keep it, as the entries go',
  Subscription: "a label of the platform's own, for who receives events",
  TrainingPlan: PLATFORM,
}
