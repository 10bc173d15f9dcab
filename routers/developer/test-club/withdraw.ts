import { z } from 'zod'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { withdrawConsents } from '../../kernel/withdraw.ts'
import { roleIn } from '../access/roles.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { idOr } from '../shared/schemas.ts'
import { beginChange } from './begin.ts'

/** What members do on the page of their connected apps. */
export const withdraw = internal('dev:write', teamPeople, {
  summary: "Withdraws the consents of a member of a team's test club to a sandbox client",
  fails: ['teamUnknown', 'clientUnknown'],
})
  .input(z.object({ team: idOr('teamUnknown'), member: idOr('clientUnknown'), client: idOr('clientUnknown') }))
  .output(z.object({ withdrawn: z.int().meta({ description: 'The number of consents' }) }))
  .mutation(async ({ ctx, input: { team, member, client } }) => {
    await roleIn(ctx, team)
    const { core } = ctx
    const author = toAuthor(ctx)
    const withdrawn = await auditing(core.db, author, async (tx, note) => {
      await beginChange(tx, ctx, team)
      const clubs = await tx.organisation.findMany({ where: { testTeamId: team }, select: { id: true } })
      const given = { personId: member, clientId: client, organisationId: { in: clubs.map(({ id }) => id) } }
      const count = await withdrawConsents(tx, given, core.now())
      // Also a client of others, to which nobody here has consented.
      if (count === 0) throw errors.clientUnknown()
      await note({ team, action: 'testClub.withdraw', target: client, after: { member } })
      return count
    })
    core.due.wake()
    return { withdrawn }
  })
