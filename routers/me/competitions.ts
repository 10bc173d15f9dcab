import { z } from 'zod'
import { float, int, statement, text } from '../../prisma/pg/statement.ts'
import { endpoint } from '../kernel/endpoint.ts'
import { clubMember } from '../kernel/policies.ts'
import { unix } from '../kernel/time.ts'

const result = z
  .object({
    id: z.string().meta({ description: 'Id of the result.', examples: ['result-1'] }),
    competitionId: z.string().meta({ description: 'Id of the competition.', examples: ['regatta-2026'] }),
    competition: z.string().meta({ description: 'Name of the competition.', examples: ['Spring regatta'] }),
    disciplineId: z.string().meta({ description: 'Id of the discipline.', examples: ['single-scull'] }),
    place: z.int().meta({ description: 'Place that the member achieved.', examples: [2] }),
    score: z.number().meta({ description: 'Score, in the unit of the discipline.', examples: [87.5] }),
    timestamp: z.int().meta({ description: 'When the result was achieved, in Unix seconds.', examples: [1777802400] }),
  })
  .meta({ title: 'CompetitionResult', description: 'A result of the member in a competition.' })

/** Competitions are looked up result by result: a join may read those of all clubs. */
const own = statement(
  'me_competitions',
  `SELECT result.id, "competitionId", competition.name AS competition, "disciplineId", place, score,
      ${unix('result.timestamp')} AS timestamp
    FROM "CompetitionResult" result
      CROSS JOIN LATERAL (SELECT * FROM "Competition" WHERE id = result."competitionId" LIMIT 1) competition
    WHERE "personId" = $member AND place IS NOT NULL
      AND ("hostId" = $club OR EXISTS (SELECT FROM "Participation" WHERE "competitionId" = competition.id AND "clubId" = $club))
    ORDER BY result.timestamp DESC, result.id`,
  { club: text, member: text },
  { id: text, competitionId: text, competition: text, disciplineId: text, place: int, score: float, timestamp: int },
)

/** Rule 4: the member's own results in competitions that the club hosts or takes part in, newest first; none without a place. */
export const competitions = endpoint('GET /me/competitions', 'svc.me.competitions:read', clubMember, {
  summary: "The member's competition results",
  description:
    "The member's own results in competitions that the club hosts or takes part in, newest first. Results without a place are omitted.",
  returns: 'The results.',
})
  .output(z.object({ items: z.array(result).meta({ description: 'The results, newest first.' }) }))
  .query(async ({ ctx: { core, member, club } }) => ({ items: await core.db.execute(own, { club, member }) }))
