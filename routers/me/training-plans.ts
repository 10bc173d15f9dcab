import { z } from 'zod'
import { int, statement, text } from '../../prisma/pg/statement.ts'
import { endpoint } from '../endpoint.ts'
import { clubMember } from '../policies.ts'

const plan = z.object({
  id: z.string(),
  name: z.string(),
  category: z.string(),
  description: z.string(),
  exerciseCount: z.int(),
  group: z.string().meta({ description: 'the group through which the plan is assigned to the member' }),
})

/** Of the groups through which a plan is assigned, one in which they are a member comes first, then the lowest id. */
const assigned = statement(
  'me_training_plans',
  `WITH own AS MATERIALIZED
      (SELECT "groupId", bool_or(role = 'member') AS "isMember" FROM "GroupMembership" WHERE "personId" = $2 GROUP BY 1),
    through AS MATERIALIZED
      (SELECT DISTINCT ON ("planId") "planId", own."groupId" FROM own CROSS JOIN LATERAL
         (SELECT "planId" FROM "PlanAssignment" WHERE "groupId" = own."groupId" AND "clubId" = $1 OFFSET 0) assignment
       ORDER BY "planId", "isMember" DESC, own."groupId")
    SELECT id, name, category, description, (SELECT count(*) FROM "Exercise" WHERE "planId" = plan.id) AS "exerciseCount",
      through."groupId" AS "group"
    FROM through CROSS JOIN LATERAL (SELECT * FROM "TrainingPlan" WHERE id = through."planId" LIMIT 1) plan
    ORDER BY name, id`,
  { id: text, name: text, category: text, description: text, exerciseCount: int, group: text },
)

/** Rule 3: the plans of the member's groups, each once. */
export const trainingplans = endpoint('GET /me/trainingplans', 'svc.me.trainingplans:read', clubMember, {
  summary: "The plans of the member's groups",
})
  .output(z.object({ items: z.array(plan) }))
  .query(async ({ ctx: { core, member, club } }) => ({ items: await core.db.execute(assigned, [club, member]) }))
