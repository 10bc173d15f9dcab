/** What a member can allow an app: each scope of the documents, with what it lets the app do. */
export const scopes = {
  'svc.me.profile:read': 'read your name, e-mail address, birthday and picture',
  'svc.me.groups:read': 'see your groups, and what you do in them',
  'svc.me.events:read': 'see your calendar',
  'svc.me.trainingplans:read': 'see your training plans',
  'svc.me.competitions:read': 'see your competition results',
  'svc.me.membercard:read': 'see your member card',
  'svc.apps.storage:read': 'read what it has stored for you and for your club',
  'svc.apps.storage:write': 'store, change and remove its own data, for you and for your club',
  'lms.me.quizzes:write': 'submit quizzes for you',
  'ntf.apps.webhook:update': 'set and remove the address that the notifications of an app go to',
  'ntf.apps.webhook:read': 'see the address that the notifications of an app go to',
} as const

export type Scope = keyof typeof scopes

/** What first-party clients alone may do; no member is ever asked for it. */
export const firstPartyScopes = ['ntf.subscriptions:write', 'ntf.events:write', 'lms.reviews:write'] as const

export type FirstPartyScope = (typeof firstPartyScopes)[number]
