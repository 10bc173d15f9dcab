export const sectionNames = ['apps', 'lms', 'notify', 'sync'] as const

/** The parts of the API: each has base URLs, an error envelope and an OpenAPI document of its own. */
export type Section = (typeof sectionNames)[number]

/** The sections with scopes and an audience of tokens of their own; `sync` takes their tokens. */
export type TokenSection = Exclude<Section, 'sync'>

export type Level = 'hobby' | 'developer'

/** `words`: what the scope allows, as the consent page tells the member. Nobody is asked for a first-party scope. */
type Definition = { section: TokenSection; level: Level } & (
  | { kind: 'member'; words: Readonly<Record<'en' | 'de', string>> }
  | { kind: 'first-party' }
)

/** Every scope of the service. `level` is the lowest membership that may hold it. */
export const scopes = {
  'svc.me.profile:read': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    words: {
      en: 'Read your name, e-mail address, birthday and picture',
      de: 'Name, E-Mail-Adresse, Geburtstag und Bild lesen',
    },
  },
  'svc.me.groups:read': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    words: { en: 'See your groups and your role in them', de: 'Gruppen und die Rolle darin einsehen' },
  },
  'svc.me.events:read': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    words: { en: 'See your calendar', de: 'Kalender einsehen' },
  },
  'svc.me.trainingplans:read': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    words: { en: 'See your training plans', de: 'Trainingspläne einsehen' },
  },
  'svc.me.competitions:read': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    words: { en: 'See your competition results', de: 'Wettkampfergebnisse einsehen' },
  },
  'svc.me.membercard:read': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    words: { en: 'See your member card', de: 'Mitgliedsausweis einsehen' },
  },
  'svc.apps.storage:read': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    words: {
      en: 'Read the data it has stored for you and your club',
      de: 'Daten lesen, die die App für das Mitglied und den Verein gespeichert hat',
    },
  },
  'svc.apps.storage:write': {
    section: 'apps',
    kind: 'member',
    level: 'hobby',
    words: {
      en: 'Store, change and delete its own data for you and your club',
      de: 'Eigene Daten der App für das Mitglied und den Verein speichern, ändern und löschen',
    },
  },
  'lms.me.quizzes:read': {
    section: 'lms',
    kind: 'member',
    level: 'developer',
    words: { en: 'See quizzes, and your attempts and results', de: 'Quizze, Versuche und Ergebnisse einsehen' },
  },
  'lms.me.quizzes:write': {
    section: 'lms',
    kind: 'member',
    level: 'developer',
    words: { en: 'Submit quiz answers on your behalf', de: 'Quizantworten im Namen des Mitglieds abgeben' },
  },
  'ntf.apps.webhook:update': {
    section: 'notify',
    kind: 'member',
    level: 'developer',
    words: {
      en: 'Set or remove the address to which the notifications of an app are sent',
      de: 'Adresse festlegen oder entfernen, an die die Benachrichtigungen einer App gehen',
    },
  },
  'ntf.apps.webhook:read': {
    section: 'notify',
    kind: 'member',
    level: 'developer',
    words: {
      en: 'See the address to which the notifications of an app are sent',
      de: 'Adresse einsehen, an die die Benachrichtigungen einer App gehen',
    },
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
