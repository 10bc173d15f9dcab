import type { Transaction } from '../../../prisma/client.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { instant, int, nullable, oneOf, statement, text, timestamp } from '../../../prisma/pg/statement.ts'
import { errors } from '../../kernel/errors.ts'
import { unix } from '../../kernel/time.ts'
import type { Caller } from '../access/roles.ts'
import { countTeam, lockTeamAs } from '../access/roles.ts'

const found = statement(
  'webhook_app',
  `SELECT "teamId", level, state, "providerId", "webhookUrl", "webhookSecret", "secretSetAt",
      ${unix('"secretSetAt"')} AS "secretSetUnix"
    FROM "App" app JOIN "Team" team ON team.id = "teamId" JOIN "TeamMember" USING ("teamId")
    WHERE app.id = $app AND "personId" = $person`,
  { app: text, person: text },
  {
    teamId: text,
    level: oneOf('hobby', 'developer'),
    state: oneOf('active', 'suspended'),
    providerId: text,
    webhookUrl: nullable(text),
    webhookSecret: nullable(text),
    secretSetAt: nullable(timestamp),
    secretSetUnix: nullable(int),
  },
)

/** Throws 404 for an app of other people, and 403 where the team's level has no webhooks. */
export async function findWebhookApp(ctx: Caller, id: string) {
  const { core, person } = ctx
  const [app] = await core.db.execute(found, { app: id, person })
  if (!app) throw errors.ownAppUnknown()
  await countTeam(ctx, app.teamId)
  if (app.level !== 'developer') throw errors.levelTooLow()
  return app
}

const lock = statement(
  'webhook_lock',
  `SELECT state, "providerId", "webhookUrl", "webhookSecret", "secretSetAt", "formerSecret", "formerUntil" FROM "App"
    WHERE id = $id FOR NO KEY UPDATE`,
  { id: text },
  {
    state: oneOf('active', 'suspended'),
    providerId: text,
    webhookUrl: nullable(text),
    webhookSecret: nullable(text),
    secretSetAt: nullable(instant),
    formerSecret: nullable(text),
    formerUntil: nullable(instant),
  },
)

/**
 * Locks an app of the caller's team until the transaction ends, so that a suspension comes before or after it. Throws 409 for a
 * suspended app.
 */
export async function lockTemplate(tx: Transaction, caller: Caller, { id, team }: { id: string; team: string }) {
  await lockTeamAs(tx, caller, { team, unknown: errors.ownAppUnknown })
  return lockApp(tx, id)
}

/** The same for a caller of the app itself; its team is locked. */
export async function lockApp(tx: Transaction, id: string, unknown = errors.ownAppUnknown) {
  const [app] = await executeIn(tx, lock, { id })
  if (!app) throw unknown()
  if (app.state === 'suspended') throw errors.appSuspended()
  return app
}
