import type { Transaction } from '../../../prisma/client.ts'
import { errors } from '../../kernel/errors.ts'
import type { Template } from '../../webhooks/template.ts'
import type { Caller } from '../teams/team-of.ts'
import { countTeam, lockTeamAs, memberOf } from '../teams/team-of.ts'

/** Throws 404 for an app of other people, and 403 where the team's level has no webhooks. */
export async function webhookAppOf(ctx: Caller, id: string) {
  const { core, person } = ctx
  const app = await core.db.app.findFirst({
    where: { id, ...memberOf(person) },
    select: {
      ...{ teamId: true, state: true, providerId: true },
      ...{ webhookUrl: true, webhookSecret: true, secretSetAt: true },
      team: { select: { level: true } },
    },
  })
  if (!app) throw errors.ownAppUnknown()
  await countTeam(ctx, app.teamId)
  if (app.team.level !== 'developer') throw errors.levelTooLow()
  return app
}

/**
 * Locks an app of the caller's team until the transaction ends, so that a suspension comes before or after it. Throws 409 for a
 * suspended app.
 */
export async function lockTemplate(tx: Transaction, caller: Caller, { id, team }: { id: string; team: string }) {
  await lockTeamAs(tx, caller, { team, unknown: errors.ownAppUnknown })
  const [app] = await tx.$queryRaw<(Template & { state: string })[]>`
    SELECT state::text AS state, "webhookUrl", "webhookSecret", "secretSetAt", "formerSecret", "formerUntil" FROM "App"
    WHERE id = ${id} FOR NO KEY UPDATE`
  if (!app) throw errors.ownAppUnknown()
  if (app.state === 'suspended') throw errors.appSuspended()
  return app
}
