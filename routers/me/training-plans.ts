import { z } from 'zod'
import { endpoint } from '../endpoint.ts'
import { clubMember } from '../policies.ts'
import { ownGroup } from './groups.ts'

const plan = z.object({
  id: z.string(),
  name: z.string(),
  category: z.string(),
  description: z.string(),
  exerciseCount: z.int(),
  group: z.string().meta({ description: 'the group through which the plan is assigned to the member' }),
})

/** Rule 3: the plans of the member's groups, each once; a group in which they are a member comes before one they train. */
export const trainingplans = endpoint('GET /me/trainingplans', 'svc.me.trainingplans:read', clubMember, {
  summary: "The plans of the member's groups",
})
  .output(z.object({ items: z.array(plan) }))
  .query(async ({ ctx: { core, member, club } }) => {
    const group = ownGroup(club, member)
    const asMember = { personId: member, role: 'member' as const }
    const rows = await core.db.trainingPlan.findMany({
      relationLoadStrategy: 'join',
      where: { assignments: { some: { group } } },
      select: {
        id: true,
        name: true,
        category: true,
        description: true,
        _count: { select: { exercises: true } },
        assignments: {
          where: { group },
          select: { groupId: true, group: { select: { people: { where: asMember, select: { role: true } } } } },
          orderBy: { groupId: 'asc' },
        },
      },
      orderBy: [{ name: 'asc' }, { id: 'asc' }],
    })
    const items = rows.map(({ _count, assignments, ...row }) => {
      const through = assignments.find((assignment) => assignment.group.people.length > 0) ?? assignments[0]!
      return { ...row, exerciseCount: _count.exercises, group: through.groupId }
    })
    return { items }
  })
