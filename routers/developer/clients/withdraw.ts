import { z } from 'zod'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { lockTeamAs, teamOfClient } from '../access/roles.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { changesColumns, readClient } from '../reviews/stored.ts'
import { stateAfter } from '../reviews/transitions.ts'
import { clientColumns, toClient } from '../shared/mappers.ts'
import { idOr } from '../shared/schemas.ts'
import { removeClientIn } from './removal.ts'

/** What the operator has decided on meanwhile has another version: of the two acts, one is 409. */
export const withdrawRequest = internal('dev:write', teamPeople, {
  summary:
    'Withdraws what is pending approval: changes of a client, or a production client that nobody could use, with that client',
  fails: ['clientUnknown', 'ownerNeeded', 'changedMeanwhile'],
})
  .input(
    z.object({
      client: idOr('clientUnknown'),
      version: z.int().meta({ description: 'The version that was read; any other is 409' }),
    }),
  )
  .output(z.object({ removed: z.boolean().meta({ description: 'The client was removed, as it was never approved' }) }))
  .mutation(async ({ ctx, input: { client: id, version } }) => {
    const team = await teamOfClient(ctx, id)
    const removed = await auditing(ctx.core.db, toAuthor(ctx), async (tx, note) => {
      await lockTeamAs(tx, ctx, { team, unknown: errors.clientUnknown })
      const found = await tx.client.findUnique({ where: { id }, select: clientColumns(ctx.core.now()) })
      if (!found) throw errors.clientUnknown()
      const client = toClient(found)
      const review = readClient(client)
      if (version !== client.version || !stateAfter(review, 'withdraw')) throw errors.changedMeanwhile()
      const isNew = review.covers === 'client'
      if (isNew) {
        await lockTeamAs(tx, ctx, { team, needed: 'owner' })
        await removeClientIn(tx, id)
      } else {
        await tx.client.update({ where: { id }, data: changesColumns(), select: { id: true } })
      }
      const { name, redirectUris, scopes } = client
      const before = { ...(isNew && { name, redirectUris, scopes }), ...(!isNew && { wanted: client.wanted }) }
      await note({ team, action: 'client.withdraw', target: id, before })
      return isNew
    })
    if (removed) ctx.core.removed({ repeat: 'client.remove', client: id })
    return { removed }
  })
