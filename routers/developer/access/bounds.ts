import type { Transaction } from '../../../prisma/client.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { int, statement, text } from '../../../prisma/pg/statement.ts'
import { errors } from '../../kernel/errors.ts'

const MAX_CLIENTS_OF_APP = 20
const MAX_CLIENTS = 200

/** Sandbox clients have no rate limit, so their number is limited. The team is locked. */
export async function refuseTooMany(tx: Transaction, { app, team }: { app: string; team: string }) {
  if ((await tx.client.count({ where: { appId: app } })) >= MAX_CLIENTS_OF_APP) throw errors.tooManyClients()
  if ((await tx.client.count({ where: { teamId: team } })) >= MAX_CLIENTS) throw errors.teamFull()
}

const MIB = 1024 ** 2
const MAX_TEXTS = MIB
const MAX_LOGOS = 8 * MIB

const sizes = statement(
  'team_sizes',
  `SELECT coalesce(sum(texts), 0)::int8 AS texts, coalesce(sum(logos), 0)::int8 AS logos FROM (
      SELECT octet_length(concat(name, description, homepage, wanted::text, refusal::text)) AS texts,
        coalesce(octet_length(logo), 0) + coalesce(octet_length("wantedLogo"), 0) AS logos
      FROM "App" WHERE "teamId" = $team
      UNION ALL
      SELECT octet_length(concat(name, "redirectUris"::text, "postLogoutRedirectUris"::text, scopes::text, purpose::text, wanted::text, refusal::text, jwks::text)), 0
      FROM "Client" WHERE "teamId" = $team
    ) AS one`,
  { team: text },
  { texts: int, logos: int },
)

/** Throws 409 when, after a change, the team's apps and clients exceed its limits. The team is locked. */
export async function refuseFull(tx: Transaction, team: string) {
  const [row] = await executeIn(tx, sizes, { team })
  const { texts, logos } = row!
  if (texts > MAX_TEXTS || logos > MAX_LOGOS) throw errors.teamFull()
}

/** Checks the same only where the change has made the row larger: a team above the limit may still make it smaller. */
export async function refuseGrowth<Row>(tx: Transaction, team: string, before: Row, after: Row) {
  if (JSON.stringify(after).length > JSON.stringify(before).length) await refuseFull(tx, team)
}
