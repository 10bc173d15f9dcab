import { z } from 'zod'
import { CONSENT_MS } from '../../kernel/access.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import type { Caller } from '../access/roles.ts'
import { lockTeamAs, teamOfClient } from '../access/roles.ts'
import { auditing, refuseBeyond, toAuthor } from '../audit/record.ts'
import { clientColumns, toClient } from '../shared/mappers.ts'
import { idOr, typed } from '../shared/schemas.ts'
import { removeClientIn, removeMostConsents } from './removal.ts'

export const remove = internal('dev:write', teamPeople, {
  summary: "Removes a client and its members' consents",
  fails: ['clientUnknown'],
})
  .input(
    z.object({
      client: idOr('clientUnknown'),
      confirm: typed.meta({ description: 'Its id', minLength: 1 }),
    }),
  )
  .output(
    z.object({ id: z.string(), consents: z.int().meta({ description: 'The number of consents that were in force' }) }),
  )
  .mutation(async ({ ctx, input: { client, confirm } }) => {
    const team = await teamOfClient(ctx, client)
    const earlier = confirm === client ? await removeEarlier(ctx, team, client) : 0
    const removed = await auditing(ctx.core.db, toAuthor(ctx), async (tx, note) => {
      await lockTeamAs(tx, ctx, { team, unknown: errors.clientUnknown })
      const found = await tx.client.findUnique({ where: { id: client }, select: clientColumns(ctx.core.now()) })
      if (!found) throw errors.clientUnknown()
      const { id, team: _, version, consents: rest, ...before } = toClient(found)
      if (confirm !== client) throw errors.confirmationWrong(rest)
      await removeClientIn(tx, client)
      const consents = earlier + rest
      await note({ team, action: 'client.remove', target: client, before: { ...before, consents } })
      return { id, consents }
    })
    ctx.core.removed({ repeat: 'client.remove', client })
    return removed
  })

/** Checks the role and the daily limit first: no refusal brings these consents back. */
async function removeEarlier(ctx: Caller, team: string, client: string) {
  const { db, now } = ctx.core
  await db.$transaction(async (tx) => {
    await lockTeamAs(tx, ctx, { team, unknown: errors.clientUnknown })
    await refuseBeyond(tx, team, toAuthor(ctx))
  })
  return removeMostConsents(db, client, now() - CONSENT_MS)
}
