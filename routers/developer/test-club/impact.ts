import { z } from 'zod'
import { int, statement, text } from '../../../prisma/pg/statement.ts'
import { internal } from '../../kernel/endpoint.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { roleIn } from '../access/roles.ts'
import { idOr } from '../shared/schemas.ts'

/** By app and club, in the order of the primary keys. */
const held = statement(
  'test_club_impact',
  `WITH club AS (SELECT id FROM "Organisation" WHERE "testTeamId" = $team),
      store AS (SELECT "appId", "clubId", bytes FROM "StorageUsage" WHERE "clubId" IN (SELECT id FROM club) AND bytes > 0)
    SELECT coalesce(sum(bytes), 0)::int8 AS bytes,
      coalesce(sum((SELECT sum(entries) FROM "StorageCollection" collection
        WHERE collection."appId" = store."appId" AND collection."clubId" = store."clubId")), 0)::int8 AS entries,
      (SELECT count(*) FROM "Quiz" JOIN "QuizResult" ON "quizId" = "Quiz".id
        WHERE "academyId" IN (SELECT id FROM club)) AS results
    FROM store`,
  { team: text },
  { bytes: int, entries: int, results: int },
)

export const impact = internal('dev:read', teamPeople, {
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
    const [found] = await ctx.core.db.execute(held, { team })
    return found!
  })
