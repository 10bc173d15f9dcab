import { z } from 'zod'
import { oneOf, statement, text } from '../../prisma/pg/statement.ts'
import { endpoint } from '../kernel/endpoint.ts'
import { clubMember } from '../kernel/policies.ts'

const group = z
  .object({
    id: z.string().meta({ description: 'Id of the group.', examples: ['rowers'] }),
    name: z.string().meta({ description: 'Name of the group.', examples: ['Rowers'] }),
    role: z.enum(['member', 'trainer']).meta({
      description: "The member's role in the group; `trainer` if both apply.",
      examples: ['trainer'],
    }),
  })
  .meta({ title: 'Group', description: 'A group of the member.' })

/** `trainer` is the greater label of the enum. */
const own = statement(
  'me_groups',
  `SELECT id, name, max(role) AS role
    FROM "GroupMembership" JOIN "Group" ON id = "groupId"
    WHERE "personId" = $member AND "clubId" = $club
    GROUP BY id ORDER BY name, id`,
  { club: text, member: text },
  { id: text, name: text, role: oneOf('member', 'trainer') },
)

/** Rule 1: the groups in which the member is a member or which they train; `trainer` wins where both are true. */
export const groups = endpoint('GET /me/groups', 'svc.me.groups:read', clubMember, {
  summary: "The member's groups",
  description: 'The groups that the member belongs to or trains, ordered by name and id.',
  returns: 'The groups.',
})
  .output(z.object({ items: z.array(group).meta({ description: 'The groups, ordered by name.' }) }))
  .query(async ({ ctx: { core, member, club } }) => ({ items: await core.db.execute(own, { club, member }) }))
