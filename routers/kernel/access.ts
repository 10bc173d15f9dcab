import { LRUCache } from 'lru-cache'
import type { Database } from '../../prisma/client.ts'
import { arrayOf } from '../../prisma/pg/array-literal.ts'
import { bool, int, jsonStrings, nullable, oneOf, statement, text } from '../../prisma/pg/statement.ts'
import { failureOf } from './database-errors.ts'

export interface Principal {
  /** `sub` of the token; null for a first-party client that acts for itself. */
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
  /** The organisation's kind if the member belongs to it now, else null. */
  memberOf: 'club' | 'academy' | 'provider' | null
  /** The scopes that are registered for the client. */
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
export const CONSENT_MS = 365 * 86_400_000

/** Looks access up in one query; cached for CACHE_MS. */
export function accessLookup(db: Database, now: () => number): AccessLookup {
  const cache = new LRUCache<string, { access: Access | null }, Principal>({
    max: 10_000,
    ttl: CACHE_MS,
    ttlResolution: 0,
    perf: { now },
    fetchMethod: async (_key, _stale, { context, options }) => {
      const startedAt = now()
      const access = await lookUp(db, context, startedAt).catch((cause) => {
        throw failureOf(cause)
      })
      // lru-cache treats a ttl of 0 as unlimited.
      options.ttl = Math.max(1, startedAt + CACHE_MS - now())
      return { access }
    },
  })
  return async (principal) => {
    const { client, organisation, member, grant = '' } = principal
    if (!isPostgresText(client)) return null
    const key = `${client}\0${organisation}\0${member ?? ''}\0${grant}`
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

interface Columns {
  client: string
  organisation: string
  member: string
  grant: string
}

/** The access of clients of $1 or of all `callers`. $4: now, $6: consents given before have ended. */
const accessOf = (callers: string, { client, organisation, member, grant }: Columns) => `"Team".id AS team,
      coalesce("Team".level, 'developer') AS level, "Client".environment = 'sandbox' AS sandbox, "Client"."appId" AS app,
      coalesce("App".state = 'suspended', false) OR "Team"."endsAt" IS NOT NULL AS suspended,
      EXISTS (SELECT FROM "CollectionRule" WHERE "CollectionRule"."appId" = "Client"."appId") AS ruled,
      to_json(coalesce("Client".scopes, '{}')) AS scopes,
      (SELECT "Organisation".kind FROM "Membership" JOIN "Organisation" ON "Organisation".id = "organisationId"
       WHERE "organisationId" = ${organisation} AND "personId" = ${member} AND ("leftAt" IS NULL OR "leftAt" > $4)) AS "memberOf"
    FROM ${callers}"Client" LEFT JOIN "Team" ON "Team".id = "Client"."teamId" LEFT JOIN "App" ON "App".id = "Client"."appId"
    WHERE "Client".id = ${client}
      AND (${grant} IS NULL OR EXISTS (SELECT FROM "Consent" WHERE "Consent".id = ${grant}
        AND "clientId" = ${client} AND "organisationId" = ${organisation} AND "personId" = ${member} AND "withdrawnAt" IS NULL
        AND "createdAt" > $6))`

const statements = {
  one: statement(
    'access',
    `SELECT ${accessOf('', { client: '$1', organisation: '$2', member: '$3', grant: '$5::text' })}`,
    accessColumns,
  ),
  all: statement(
    'access_of_all',
    `SELECT caller.number::int4, ${accessOf(
      `unnest($1::text[], $2::text[], $3::text[], $5::text[]) WITH ORDINALITY
        AS caller (client, organisation, member, "grant", number) CROSS JOIN `,
      { client: 'caller.client', organisation: 'organisation', member: 'member', grant: 'caller."grant"' },
    )}`,
    { number: int, ...accessColumns },
  ),
}

const periodAt = (now: number) => [now, now - CONSENT_MS].map((ms) => new Date(ms).toISOString()) as [string, string]

async function lookUp(db: Database, principal: Principal, now: number): Promise<Access | null> {
  const { client, organisation, member, grant } = principal
  if (grant !== undefined && !isPostgresText(grant)) return null
  const membership =
    member !== null && isPostgresText(organisation) && isPostgresText(member) ? [organisation, member] : ['', '']
  const [at, consentedAfter] = periodAt(now)
  const [row] = await db.execute(statements.one, [client, ...membership, at, grant ?? null, consentedAfter])
  return row ?? null
}

/** The access of members who had access before, in one query; undefined for one who has none. */
export async function accessOfAll(db: Database, principals: readonly Principal[], now: number) {
  const column = (of: (principal: Principal) => string | null) => arrayOf(principals.map(of))
  const [at, consentedAfter] = periodAt(now)
  const rows = await db.execute(statements.all, [
    column(({ client }) => client),
    column(({ organisation }) => organisation),
    column(({ member }) => member),
    at,
    column(({ grant = null }) => grant),
    consentedAfter,
  ])
  const found: (Access | undefined)[] = principals.map(() => undefined)
  for (const { number, ...access } of rows) found[number - 1] = access
  return found
}
