import { LRUCache } from 'lru-cache'
import type { Database } from '../../prisma/client.ts'
import { toArrayLiteral } from '../../prisma/pg/array-literal.ts'
import {
  bool,
  encodedTexts,
  instant,
  jsonArray,
  jsonStrings,
  nullable,
  oneOf,
  statement,
  text,
} from '../../prisma/pg/statement.ts'
import { toFailure } from './database-errors.ts'
import { storageScopes } from './scopes.ts'
import { DAY_MS } from './time.ts'

export interface Principal {
  /** `sub` of the token; null for a first-party client, and for a team's client that acts for its app. */
  member: string | null
  /** The club, academy or provider that the member consented to. */
  organisation: string
  client: string
  scopes: ReadonlySet<string>
  /** The consent behind a token of our own; it must still be in force. */
  grant?: string
  /** Only scopes that are now registered for the client count. Other issuers decide on their scopes. */
  ownToken?: true
  /** The sections that the token is valid for; default: all. */
  sections?: ReadonlySet<string>
  /** Unix time in milliseconds; without a token, never. */
  expiresAt?: number
}

/** The database's data on a principal's client, team and membership. */
export interface Access {
  /** Null for a first-party client. */
  team: string | null
  level: 'hobby' | 'developer'
  /** Sandbox clients have no rate limit. */
  sandbox: boolean
  app: string | null
  suspended: boolean
  /** The app has a rule for a collection of its storage. */
  ruled: boolean
  /** The organisation's kind if the member belongs to it now; club for an app itself; else null. */
  memberOf: 'club' | 'academy' | 'provider' | null
  /** The scopes that are registered for the client; of an app itself, those that a member of the club allows as well. */
  scopes: readonly string[]
}

/** Resolves to null when the client does not exist or the consent is not in force; throws 503. */
export type AccessLookup = (principal: Principal) => Promise<Access | null>

export const hasExpired = ({ expiresAt = Number.POSITIVE_INFINITY }: Principal, now: number) => expiresAt <= now

/** Ids have at most 255 characters, and PostgreSQL's text cannot contain NUL. */
export const isPostgresText = (id: string) =>
  (id.length <= 255 || (id.length <= 510 && [...id].length <= 255)) && !id.includes('\0')

/** Measured from the start of a look-up. Every change takes effect within 5 s; the rest is for a call in progress. */
const CACHE_MS = 4_000

/** A consent is in force for a year after it was given. */
export const CONSENT_MS = 365 * DAY_MS

/** Looks access up in one query; cached for CACHE_MS of a clock that is never set back, as the database's may be. */
export function accessLookup(db: Database, now: () => number, steady = now): AccessLookup {
  const cache = new LRUCache<string, { access: Access | null }, Principal>({
    max: 10_000,
    ttl: CACHE_MS,
    ttlResolution: 0,
    perf: { now: steady },
    fetchMethod: async (_key, _stale, { context, options }) => {
      const startedAt = steady()
      const access = await readAccess(db, context, now()).catch((cause) => {
        throw toFailure(cause)
      })
      // lru-cache treats a ttl of 0 as unlimited.
      options.ttl = Math.max(1, startedAt + CACHE_MS - steady())
      return { access }
    },
  })
  return async (principal) => {
    const { client, organisation, member, grant = '' } = principal
    if (!isPostgresText(client)) return null
    const key = `${client}\0${organisation}\0${member ?? '\0'}\0${grant}`
    const cached = cache.get(key) ?? (await cache.fetch(key, { context: principal }))
    return cached!.access
  }
}

const accessColumns = {
  team: nullable(text),
  level: oneOf('hobby', 'developer'),
  sandbox: bool,
  app: nullable(text),
  suspended: bool,
  ruled: bool,
  scopes: jsonStrings,
  memberOf: nullable(oneOf('club', 'academy', 'provider')),
}

interface Caller {
  client: string
  organisation: string
}

/** How a caller's access depends on consents. */
interface Consented {
  joins?: string
  memberOf: string
  scopes: string
  condition: string
}

/** The access of a client, or of the clients of `callers`. */
const accessSql = (client: string, { joins = '', memberOf, scopes, condition }: Consented, callers = '') =>
  `"Team".id AS team,
      coalesce("Team".level, 'developer') AS level, "Client".environment = 'sandbox' AS sandbox, "Client"."appId" AS app,
      coalesce("App".state = 'suspended', false) OR "Team"."endsAt" IS NOT NULL AS suspended,
      EXISTS (SELECT FROM "CollectionRule" WHERE "CollectionRule"."appId" = "Client"."appId") AS ruled,
      to_json(${scopes}) AS scopes, ${memberOf} AS "memberOf"
    FROM ${callers}"Client" LEFT JOIN "Team" ON "Team".id = "Client"."teamId" LEFT JOIN "App" ON "App".id = "Client"."appId"${joins}
    WHERE "Client".id = ${client} AND (${condition})`

/** Consents given before `consentedAfter` have ended. */
const memberConsent = ({
  client,
  organisation,
  member,
  grant,
}: Caller & { member: string; grant: string }): Consented => ({
  scopes: `coalesce("Client".scopes, '{}')`,
  memberOf: `(SELECT "Organisation".kind FROM "Membership" JOIN "Organisation" ON "Organisation".id = "organisationId"
       WHERE "organisationId" = ${organisation} AND "personId" = ${member} AND ("leftAt" IS NULL OR "leftAt" > $now))`,
  condition: `${grant} IS NULL OR EXISTS (SELECT FROM "Consent" WHERE "Consent".id = ${grant}
        AND "clientId" = ${client} AND "organisationId" = ${organisation} AND "personId" = ${member} AND "withdrawnAt" IS NULL
        AND "createdAt" > $consentedAfter)`,
})

/**
 * Without a member: a first-party client, or a team's client for its app, to whose storage a member of the club consents, in
 * whichever client of the app.
 */
const appConsent = ({ organisation }: Pick<Caller, 'organisation'>): Consented => ({
  // OFFSET 0: else it is called once for each place below.
  joins: `
    CROSS JOIN LATERAL (SELECT consent_storage_scopes('{${storageScopes}}', "Client"."appId", ${organisation}, $now, $consentedAfter) AS scopes
      OFFSET 0) allowed`,
  scopes: `CASE WHEN "Client"."teamId" IS NULL THEN coalesce("Client".scopes, '{}')
        ELSE ARRAY(SELECT scope FROM unnest(allowed.scopes) AS scope WHERE scope = ANY ("Client".scopes)) END`,
  memberOf: `CASE WHEN "Client"."teamId" IS NOT NULL THEN 'club'::"OrganisationKind" END`,
  condition: `"Client"."teamId" IS NULL OR cardinality(allowed.scopes) > 0`,
})

const COLUMNS = {
  client: 'caller.client',
  organisation: 'caller.organisation',
  member: 'member',
  grant: 'caller."grant"',
}

/**
 * Grouped by access: the members who use an app have the same, and so a row in all. Columns of `callers`: those above, and
 * number.
 */
const forEachCaller = (consented: Consented, callers: string) =>
  `SELECT json_agg(number) AS numbers, team, level, sandbox, app, suspended, ruled, scopes::text::json AS scopes, "memberOf"
    FROM (SELECT caller.number, ${accessSql(COLUMNS.client, consented, `${callers} CROSS JOIN `)}) found
    GROUP BY team, level, sandbox, app, suspended, ruled, scopes::text, "memberOf"`

const numbered = { numbers: jsonArray<number>(), ...accessColumns }

const statements = {
  member: statement(
    'access',
    `SELECT ${accessSql('$client', memberConsent({ client: '$client', organisation: '$organisation', member: '$member', grant: '$grant::text' }))}`,
    { client: text, organisation: text, member: text, now: instant, grant: nullable(text), consentedAfter: instant },
    accessColumns,
  ),
  itself: statement(
    'access_of_itself',
    `SELECT ${accessSql('$client', appConsent({ organisation: '$organisation' }))}`,
    { client: text, organisation: text, now: instant, consentedAfter: instant },
    accessColumns,
  ),
  members: statement(
    'access_of_all',
    forEachCaller(
      memberConsent(COLUMNS),
      `unnest($clients::text[], $organisations::text[], $members::text[], $grants::text[]) WITH ORDINALITY
        AS caller (client, organisation, member, "grant", number)`,
    ),
    {
      clients: encodedTexts,
      organisations: encodedTexts,
      members: encodedTexts,
      now: instant,
      grants: encodedTexts,
      consentedAfter: instant,
    },
    numbered,
  ),
  themselves: statement(
    'access_of_themselves',
    forEachCaller(
      appConsent(COLUMNS),
      'unnest($clients::text[], $organisations::text[]) WITH ORDINALITY AS caller (client, organisation, number)',
    ),
    { clients: encodedTexts, organisations: encodedTexts, now: instant, consentedAfter: instant },
    numbered,
  ),
}

/** Not cached. Resolves as an AccessLookup does; rejects with the database's error. */
export async function readAccess(db: Database, principal: Principal, now: number): Promise<Access | null> {
  const { client, organisation, member, grant } = principal
  if (grant !== undefined && !isPostgresText(grant)) return null
  const consentedAfter = now - CONSENT_MS
  if (member === null) {
    const of = isPostgresText(organisation) ? organisation : ''
    const [row] = await db.execute(statements.itself, { client, organisation: of, now, consentedAfter })
    return row ?? null
  }
  const isMembership = isPostgresText(organisation) && isPostgresText(member)
  const [row] = await db.execute(statements.member, {
    client,
    organisation: isMembership ? organisation : '',
    member: isMembership ? member : '',
    now,
    grant: grant ?? null,
    consentedAfter,
  })
  return row ?? null
}

/**
 * Asks for the access of callers who had access before: undefined for one who has none. One query for those of members, one for
 * others. The function is kept while the callers are the same: 500 of them are 35 KB of parameters. It resolves to the same array
 * while nobody's access has changed.
 */
export function accessOfAll(db: Database, principals: readonly Principal[]) {
  const members = principals.filter(({ member }) => member !== null)
  const themselves = principals.filter(({ member }) => member === null)
  const toCallerArrays = (those: readonly Principal[]) => ({
    clients: toArrayLiteral(those.map(({ client }) => client)),
    organisations: toArrayLiteral(those.map(({ organisation }) => organisation)),
  })
  const memberArrays = {
    ...toCallerArrays(members),
    members: toArrayLiteral(members.map(({ member }) => member)),
    grants: toArrayLiteral(members.map(({ grant = null }) => grant)),
  }
  const appArrays = toCallerArrays(themselves)
  let last = ''
  let accesses: readonly (Access | undefined)[] = []
  return async (now: number): Promise<readonly (Access | undefined)[]> => {
    const period = { now, consentedAfter: now - CONSENT_MS }
    // One after the other, on one connection.
    const rows = [
      members.length > 0 ? await db.execute(statements.members, { ...memberArrays, ...period }) : [],
      themselves.length > 0 ? await db.execute(statements.themselves, { ...appArrays, ...period }) : [],
    ]
    const text = JSON.stringify(rows)
    if (text === last) return accesses
    const found = new Map<Principal, Access>()
    for (const [i, those] of [members, themselves].entries()) {
      for (const { numbers, ...access } of rows[i]!) for (const number of numbers) found.set(those[number - 1]!, access)
    }
    accesses = principals.map((principal) => found.get(principal))
    last = text
    return accesses
  }
}
