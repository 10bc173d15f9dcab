import type { Access, Principal } from './access.ts'
import { isPostgresText } from './access.ts'
import type { TokenSection } from './scopes.ts'

export type OrganisationKind = 'club' | 'academy' | 'provider'

/** What a caller has to be, beyond the scope of the endpoint. */
export interface Requirements {
  /** A token has to be valid for it. */
  section: TokenSection
  level?: 'developer'
  /** A client that belongs to the platform; such a client needs no member. */
  firstParty?: true
  /** The token has a member, as that of a person who works on apps. */
  person?: true
  /** A client that belongs to an app. */
  app?: true
  /** A team's client may, or must, call it without a member, for its app. */
  appItself?: 'allowed' | 'required'
  /** The member is a current member of the token's organisation, which is of this kind; for an app itself it is a club. */
  memberOf?: OrganisationKind
}

/** Guarantees about a caller who meets the requirements. */
type Facts<R extends Requirements> = {
  organisation: string
  team: string | null
  suspended: boolean
  ruled: boolean
} & (R extends {
  memberOf: OrganisationKind
}
  ? { member: R extends { appItself: 'allowed' } ? string | null : string }
  : object) &
  (R extends { appItself: 'required' } ? { team: string; client: string } : object) &
  (R extends { person: true } ? { person: string } : object) &
  (R extends { app: true } ? { app: string; client: string; team: string } : object)

/** The principals that may call an endpoint, and the part of the context that its handler gets. */
export interface AccessPolicy<Granted extends object = object> {
  requires: Requirements
  /** Called after every check has passed. */
  grant: (principal: Principal, access: Access) => Granted
}

function policy<const R extends Requirements, Granted extends object>(
  requires: R,
  grant: (facts: Facts<R>) => Granted,
): AccessPolicy<Granted> {
  // `authorizer` grants only after the checks that make these facts true.
  return {
    requires,
    grant: ({ organisation, member, client }, { app, team, suspended, ruled }) =>
      grant({ organisation, team, client, member, person: member, app, suspended, ruled } as unknown as Facts<R>),
  }
}

/** Anyone with a valid token. */
export const anyone = policy({ section: 'apps' }, ({ organisation }) => ({ organisation }))

export const clubMember = policy({ section: 'apps', memberOf: 'club' }, ({ member, organisation }) => ({
  member,
  club: organisation,
}))

export const clubApp = policy({ section: 'apps', app: true, memberOf: 'club' }, (facts) => ({
  app: facts.app,
  member: facts.member,
  club: facts.organisation,
  ruled: facts.ruled,
}))

/** The member is null for an app itself. */
export const clubStore = policy({ section: 'apps', app: true, memberOf: 'club', appItself: 'allowed' }, (facts) => ({
  app: facts.app,
  member: facts.member,
  club: facts.organisation,
  ruled: facts.ruled,
}))

export const appItself = policy({ section: 'apps', app: true, appItself: 'required' }, (facts) => ({
  app: facts.app,
  client: facts.client,
  team: facts.team,
}))

export const learner = policy({ section: 'lms', level: 'developer', memberOf: 'academy' }, (facts) => ({
  member: facts.member,
  academy: facts.organisation,
}))

/** A first-party client has no team, and so no app: '' is no row's id. */
export const appDeveloper = policy({ section: 'notify', level: 'developer', memberOf: 'provider' }, (facts) => ({
  provider: facts.organisation,
  team: facts.team ?? '',
  /** The app of the client. */
  suspended: facts.suspended,
}))

/** The app is that of the client. */
export const providerApp = policy(
  { section: 'notify', level: 'developer', app: true, memberOf: 'provider' },
  (facts) => ({
    app: facts.app,
    client: facts.client,
    team: facts.team,
    provider: facts.organisation,
    suspended: facts.suspended,
  }),
)

export const academyPlatform = policy({ section: 'lms', firstParty: true }, ({ organisation }) => ({
  academy: storedId(organisation),
}))

export const providerPlatform = policy({ section: 'notify', firstParty: true }, ({ organisation }) => ({
  provider: storedId(organisation),
}))

/** The data of the whole platform, whatever the organisation of the token. */
export const directoryPlatform = policy({ section: 'apps', firstParty: true }, () => ({}))

export const teamPeople = policy({ section: 'apps', firstParty: true, person: true }, ({ person }) => ({ person }))

/** Nothing checks the organisation of a token without a member. One that PostgreSQL cannot store becomes '', no row's id. */
const storedId = (id: string) => (isPostgresText(id) ? id : '')
