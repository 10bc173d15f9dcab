import type { Environment } from '../../../prisma/generated/client.ts'
import { instant, int, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { errors } from '../../kernel/errors.ts'
import { formatLabel } from '../../kernel/labels.ts'
import type { Caller } from '../access/roles.ts'
import { teamOfApp } from '../access/roles.ts'

/**
 * What a person of a team sees of an app's storage. In the team's test club everything, as its members are invented. In another
 * club what the app could show them with their own token, and only an owner of the team who is a member there: shared entries,
 * and their own private ones. Nobody else's private entries.
 */
export interface Store {
  club: { id: string; name: string }
  environment: Environment
  /** The owners whose entries are visible; undefined for all. */
  owners: readonly string[] | undefined
}

const isVisible = `(club."testTeamId" = app."teamId" OR club."testTeamId" IS NULL
    AND EXISTS (SELECT FROM "TeamMember" WHERE "teamId" = app."teamId" AND "personId" = $person AND role = 'owner')
    AND EXISTS (SELECT FROM "Membership" WHERE "organisationId" = club.id AND "personId" = $person
      AND ("leftAt" IS NULL OR "leftAt" > $now::timestamptz)))`

const ENVIRONMENT = `CASE WHEN club."testTeamId" IS NULL THEN 'production' ELSE 'sandbox' END AS environment`
const environment = oneOf('production', 'sandbox')

const statements = {
  list: statement(
    'data_stores',
    `SELECT club.id, club.name, bytes, ${ENVIRONMENT}
      FROM "App" app JOIN "StorageUsage" ON "appId" = app.id JOIN "Organisation" club ON club.id = "clubId"
      WHERE app.id = $app AND bytes > 0 AND ${isVisible}
      ORDER BY club."testTeamId" IS NULL, club.name, club.id LIMIT $limit::int8 OFFSET $offset::int8`,
    { app: text, person: text, now: instant, limit: int, offset: int },
    { id: text, name: text, bytes: int, environment },
  ),
  one: statement(
    'data_store',
    `SELECT club.name, ${ENVIRONMENT} FROM "App" app, "Organisation" club
      WHERE app.id = $app AND club.id = $club AND club.kind = 'club' AND ${isVisible}`,
    { app: text, person: text, now: instant, club: text },
    { name: text, environment },
  ),
}

const visitor = ({ core, person }: Caller, app: string) => ({ app, person, now: core.now() })

/** The clubs in which the app stores something that the caller can see; one more than `limit` if there are more. */
export const listStores = (ctx: Caller, app: string, { limit, offset }: { limit: number; offset: number }) =>
  ctx.core.db.execute(statements.list, { ...visitor(ctx, app), limit: limit + 1, offset })

/** Throws 404 for an app of another team, and for a club whose store the caller cannot see. */
export async function findStore(ctx: Caller, { app, club }: { app: string; club: string }): Promise<Store> {
  await teamOfApp(ctx, app)
  const [found] = await ctx.core.db.execute(statements.one, { ...visitor(ctx, app), club })
  if (!found) throw errors.keyUnknown()
  const { name, environment } = found
  const owners = environment === 'sandbox' ? undefined : ['', ctx.person]
  return { club: { id: club, name: formatLabel({ id: club, name }) }, environment, owners }
}

/** The same, of entries that the caller may see: of `owner`, '' for shared ones. */
export async function findCollection(
  ctx: Caller,
  { collection, owner, ...of }: { app: string; club: string; owner: string; collection: string },
) {
  const store = await findStore(ctx, of)
  if (store.owners && !store.owners.includes(owner)) throw errors.keyUnknown()
  return { store, at: { ...of, owner, collection } }
}
