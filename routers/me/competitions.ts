import { z } from 'zod'
import { endpoint } from '../endpoint.ts'
import { clubMember } from '../policies.ts'
import { toUnix } from '../time.ts'

const result = z.object({
  id: z.string(),
  competitionId: z.string(),
  competition: z.string().meta({ description: 'competition name' }),
  disciplineId: z.string(),
  place: z.int(),
  score: z.number(),
  timestamp: z.int(),
})

/** Rule 4: the member's own results in competitions that the club hosts or takes part in, newest first; none without a place. */
export const competitions = endpoint('GET /me/competitions', 'svc.me.competitions:read', clubMember, {
  summary: "The member's competition results",
})
  .output(z.object({ items: z.array(result) }))
  .query(async ({ ctx: { core, member, club } }) => {
    const ofClub = { OR: [{ hostId: club }, { participations: { some: { clubId: club } } }] }
    const rows = await core.db.competitionResult.findMany({
      relationLoadStrategy: 'join',
      where: { personId: member, place: { not: null }, competition: ofClub },
      select: {
        id: true,
        competitionId: true,
        disciplineId: true,
        place: true,
        score: true,
        timestamp: true,
        competition: { select: { name: true } },
      },
      orderBy: [{ timestamp: 'desc' }, { id: 'asc' }],
    })
    const items = rows.map(({ competition, place, timestamp, ...row }) => ({
      ...row,
      competition: competition.name,
      place: place!,
      timestamp: toUnix(timestamp),
    }))
    return { items }
  })
