import { LRUCache } from 'lru-cache'
import type { Database } from '../prisma/client.ts'
import { bool, nullable, oneOf, statement, text } from '../prisma/pg/statement.ts'
import { failureOf } from './database-errors.ts'

/** Whom a call is made for. Of a verified token, or of a caller in this process. */
export interface Principal {
  /** The member: `sub` of a token. Null: a first-party client on its own behalf. */
  member: string | null
  /** The club, academy or provider that the member gave consent for. */
  organisation: string
  client: string
  scopes: ReadonlySet<string>
  /** The consent that the token was issued under, where it was issued by us: it has to hold. */
  grant?: string
  /** The sections that the token is meant for; all of them where nothing is said. */
  sections?: ReadonlySet<string>
}

/** What a principal's client, team and membership are, as the database says. */
export interface Access {
  /** Null: the client is a first-party one, which belongs to the platform. */
  team: string | null
  level: 'hobby' | 'developer'
  /** Sandbox clients have no limit. */
  sandbox: boolean
  app: string | null
  /** The kind of organisation of which the principal's member is a member now; null when they are not. */
  memberOf: 'club' | 'academy' | 'provider' | null
}

/** Null: there is no such client, or no more, or the consent does not hold. What is remembered is given at once. */
export type AccessLookup = (principal: Principal) => Access | null | Promise<Access | null>

/** Longer identifiers than this are nobody's, and a NUL is more than PostgreSQL's text can hold. */
export const isPostgresText = (id: string) => id.length <= 255 && !id.includes('\0')

/** What a removed client, a lowered level or a member who left may still get; the lookup itself takes part of the 5 s. */
const REMEMBERED_MS = 4_000

/** Looks access up in one query, and remembers it for a few seconds, under 5 whatever the query takes. */
export function accessLookup(db: Database, now: () => number): AccessLookup {
  const remembered = new LRUCache<string, { access: Access | null }, Principal>({
    max: 10_000,
    ttl: REMEMBERED_MS,
    ttlResolution: 0,
    perf: { now },
    fetchMethod: async (_key, _stale, { context }) => {
      const access = await lookUp(db, context, now()).catch((cause) => {
        throw failureOf(cause)
      })
      return { access }
    },
  })
  return (principal) => {
    const { client, organisation, member, grant = '' } = principal
    if (!isPostgresText(client)) return null
    const key = `${client}\0${organisation}\0${member ?? ''}\0${grant}`
    const known = remembered.get(key)
    return known ? known.access : remembered.fetch(key, { context: principal }).then((found) => found!.access)
  }
}

const access = statement(
  'access',
  `SELECT "Team".id AS team, coalesce("Team".level, 'developer') AS level,
      "Client".environment = 'sandbox' AS sandbox, "Client"."appId" AS app,
      (SELECT "Organisation".kind FROM "Membership" JOIN "Organisation" ON "Organisation".id = "organisationId"
       WHERE "organisationId" = $2 AND "personId" = $3 AND ("leftAt" IS NULL OR "leftAt" > $4)) AS "memberOf"
    FROM "Client" LEFT JOIN "Team" ON "Team".id = "Client"."teamId" WHERE "Client".id = $1
      AND ($5::text IS NULL OR EXISTS (SELECT FROM "Consent" WHERE "Consent".id = $5
        AND "clientId" = $1 AND "organisationId" = $2 AND "personId" = $3 AND "withdrawnAt" IS NULL))`,
  {
    team: nullable(text),
    level: oneOf('hobby', 'developer'),
    sandbox: bool,
    app: nullable(text),
    memberOf: nullable(oneOf('club', 'academy', 'provider')),
  },
)

async function lookUp(db: Database, principal: Principal, now: number): Promise<Access | null> {
  const { client, organisation, member, grant } = principal
  if (grant !== undefined && !isPostgresText(grant)) return null
  const whose =
    member !== null && isPostgresText(organisation) && isPostgresText(member) ? [organisation, member] : ['', '']
  const [row] = await db.execute(access, [client, ...whose, new Date(now).toISOString(), grant ?? null])
  return row ?? null
}
