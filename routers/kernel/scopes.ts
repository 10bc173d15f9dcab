export const sectionNames = ['apps', 'lms', 'notify', 'sync'] as const

/** The parts of the API: each has base URLs, an error envelope and an OpenAPI document of its own. */
export type Section = (typeof sectionNames)[number]

/** The sections with scopes and an audience of tokens of their own; `sync` takes their tokens. */
export type TokenSection = Exclude<Section, 'sync'>

export type Level = 'hobby' | 'developer'

/** `description`: what the scope allows, as the consent page tells the member in English. Nobody is asked for a first-party scope. */
type Definition = { section: TokenSection; level: Level } & (
  | { kind: 'member'; description: string }
  | { kind: 'first-party' }
)

/** Every scope of the service. `level` is the lowest membership that may hold it. */
export const scopes = {
  'svc.me.profile:read': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    description: 'Read your name, e-mail address, birthday and picture',
  },
  'svc.me.groups:read': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    description: 'See your groups and your role in them',
  },
  'svc.me.events:read': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    description: 'See your calendar',
  },
  'svc.me.trainingplans:read': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    description: 'See your training plans',
  },
  'svc.me.competitions:read': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    description: 'See your competition results',
  },
  'svc.me.membercard:read': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    description: 'See your member card',
  },
  'svc.apps.storage:read': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    description: 'Read the data it has stored for you and your club',
  },
  'svc.apps.storage:write': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    description: 'Store, change and delete its own data for you and your club',
  },
  'lms.me.quizzes:read': {
    section: 'lms',
    kind: 'member',
    level: 'developer',
    description: 'See quizzes, and your attempts and results',
  },
  'lms.me.quizzes:write': {
    section: 'lms',
    kind: 'member',
    level: 'developer',
    description: 'Submit quiz answers on your behalf',
  },
  'ntf.apps.webhook:update': {
    section: 'notify',
    kind: 'member',
    level: 'developer',
    description: 'Set or remove the address to which the notifications of an app are sent',
  },
  'ntf.apps.webhook:read': {
    section: 'notify',
    kind: 'member',
    level: 'developer',
    description: 'See the address to which the notifications of an app are sent',
  },
  'ntf.subscriptions:write': { section: 'notify', kind: 'first-party', level: 'developer' },
  'ntf.events:write': { section: 'notify', kind: 'first-party', level: 'developer' },
  'lms.reviews:write': { section: 'lms', kind: 'first-party', level: 'developer' },
  'directory:read': { section: 'apps', kind: 'first-party', level: 'developer' },
  'dev:read': { section: 'apps', kind: 'first-party', level: 'developer' },
  'dev:write': { section: 'apps', kind: 'first-party', level: 'developer' },
  'directory:write': { section: 'apps', kind: 'first-party', level: 'developer' },
} as const satisfies Record<string, Definition>

type Scopes = typeof scopes
type OfKind<Kind> = { [Name in keyof Scopes]: Scopes[Name]['kind'] extends Kind ? Name : never }[keyof Scopes]

/** What a member can allow an app. */
export type Scope = OfKind<'member'>

/** What only clients of the platform itself may do. */
export type FirstPartyScope = OfKind<'first-party'>

const isKnown = (text: string): text is keyof Scopes => Object.hasOwn(scopes, text)

export const isScope = (text: string): text is Scope => isKnown(text) && scopes[text].kind === 'member'
export const isFirstPartyScope = (text: string): text is FirstPartyScope =>
  isKnown(text) && scopes[text].kind === 'first-party'

export const memberScopes = Object.keys(scopes).filter(isScope)
export const firstPartyScopes = Object.keys(scopes).filter(isFirstPartyScope)

export const isAllowedAt = (level: Level, scope: Scope) => level === 'developer' || scopes[scope].level === 'hobby'

/** Those with which an app may act for itself. */
export const storageScopes = ['svc.apps.storage:read', 'svc.apps.storage:write'] as const satisfies Scope[]

export const memberScopesAt = (level: Level) => memberScopes.filter((scope) => isAllowedAt(level, scope))
