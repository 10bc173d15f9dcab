import { z } from 'zod'
import { internal } from '../../kernel/endpoint.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { idOr } from '../shapes.ts'
import { roleIn } from '../teams/team-of.ts'

export const holdings = internal('dev:read', teamPeople, {
  summary: "What a reset would remove from a team's test club",
  fails: ['teamUnknown'],
})
  .input(z.object({ team: idOr('teamUnknown') }))
  .output(
    z.object({
      entries: z.int().meta({ description: 'Stored entries of all apps, examples included' }),
      bytes: z.int().meta({ description: 'Bytes of their values' }),
      results: z.int().meta({ description: 'Quiz results' }),
    }),
  )
  .query(async ({ ctx, input: { team } }) => {
    await roleIn(ctx, team)
    const { db } = ctx.core
    const of = { club: { testTeamId: team }, bytes: { gt: 0 } }
    const stores = await db.storageUsage.findMany({ where: of, select: { appId: true, clubId: true, bytes: true } })
    const [tally, results] = await Promise.all([
      // By app and club, in the order of the primary key.
      db.storageCollection.aggregate({
        where: { OR: stores.map(({ appId, clubId }) => ({ appId, clubId })) },
        _sum: { entries: true },
      }),
      db.quizResult.count({ where: { quiz: { academy: { testTeamId: team } } } }),
    ])
    const bytes = stores.reduce((sum, store) => sum + Number(store.bytes), 0)
    return { entries: Number(tally._sum.entries ?? 0), bytes, results }
  })
