import { z } from 'zod'
import { int, statement, text } from '../../prisma/pg/statement.ts'
import { endpoint } from '../kernel/endpoint.ts'
import { clubMember } from '../kernel/policies.ts'

const plan = z
  .object({
    id: z.string().meta({ description: 'Id of the plan.', examples: ['endurance'] }),
    name: z.string().meta({ description: 'Name of the plan.', examples: ['Endurance'] }),
    category: z.string().meta({ description: 'Category of the plan.', examples: ['Fitness'] }),
    description: z.string().meta({ description: 'What the plan is about.', examples: ['Three sessions a week'] }),
    exerciseCount: z.int().meta({ description: 'Number of exercises in the plan.', examples: [12] }),
    group: z
      .string()
      .meta({ description: 'Id of the group through which the plan is assigned to the member.', examples: ['rowers'] }),
  })
  .meta({ title: 'TrainingPlan', description: 'A training plan that is assigned to a group of the member.' })

/** Among the groups through which a plan is assigned, one that they belong to comes first, then the lowest id. */
const assigned = statement(
  'me_training_plans',
  `WITH own AS MATERIALIZED
      (SELECT "groupId", bool_or(role = 'member') AS "isMember" FROM "GroupMembership" WHERE "personId" = $member GROUP BY 1),
    through AS MATERIALIZED
      (SELECT DISTINCT ON ("planId") "planId", own."groupId" FROM own CROSS JOIN LATERAL
         (SELECT "planId" FROM "PlanAssignment" WHERE "groupId" = own."groupId" AND "clubId" = $club OFFSET 0) assignment
       ORDER BY "planId", "isMember" DESC, own."groupId")
    SELECT id, name, category, description, (SELECT count(*) FROM "Exercise" WHERE "planId" = plan.id) AS "exerciseCount",
      through."groupId" AS "group"
    FROM through CROSS JOIN LATERAL (SELECT * FROM "TrainingPlan" WHERE id = through."planId" LIMIT 1) plan
    ORDER BY name, id`,
  { club: text, member: text },
  { id: text, name: text, category: text, description: text, exerciseCount: int, group: text },
)

/** Rule 3: the plans of the member's groups, each once. */
export const trainingplans = endpoint('GET /me/trainingplans', 'svc.me.trainingplans:read', clubMember, {
  summary: "The plans of the member's groups",
  description:
    "The training plans that are assigned to the member's groups, each once, ordered by name and id. If there are several groups, `group` is preferably one that the member belongs to, then one that they train, then the one with the lowest id.",
  returns: 'The plans.',
})
  .output(z.object({ items: z.array(plan).meta({ description: 'The plans, ordered by name.' }) }))
  .query(async ({ ctx: { core, member, club } }) => ({ items: await core.db.execute(assigned, { club, member }) }))
