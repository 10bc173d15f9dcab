import { z } from 'zod'
import { retryingDeadlocks } from '../../kernel/database-errors.ts'
import { internal } from '../../kernel/endpoint.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { lockTeamAs, roleIn } from '../access/roles.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { idOr } from '../shared/schemas.ts'
import { completeTestClub } from './add.ts'
import { clear, fill } from './fill.ts'
import { emptyLargeStores } from './large-stores.ts'

/** Members, consents and all ids stay, so that tokens and tests of the team's apps go on working. */
export const reset = internal('dev:write', teamPeople, {
  summary:
    "Makes a team's test club as new: removes what its apps stored there and all results; creates it if it is missing",
  fails: ['teamUnknown'],
})
  .input(z.object({ team: idOr('teamUnknown') }))
  .output(z.object({ club: z.string() }))
  .mutation(async ({ ctx, input: { team: id } }) => {
    await roleIn(ctx, id)
    const author = toAuthor(ctx)
    await emptyLargeStores(ctx, id)
    const { apps, ...result } = await retryingDeadlocks(() =>
      auditing(ctx.core.db, author, async (tx, note) => {
        await lockTeamAs(tx, ctx, { team: id })
        const team = await tx.team.findUniqueOrThrow({ where: { id }, select: { id: true, name: true } })
        const club = await completeTestClub(tx, team, author.at)
        await clear(tx, club)
        const apps = await fill(tx, club, author.at)
        await note({ team: id, action: 'testClub.reset', target: club.club })
        return { club: club.club, apps }
      }),
    )
    for (const app of apps) ctx.core.watch.wake({ app, ...result })
    return result
  })
