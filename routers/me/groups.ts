import { z } from 'zod'
import { endpoint } from '../endpoint.ts'
import { clubMember } from '../policies.ts'

const group = z.object({ id: z.string(), name: z.string(), role: z.enum(['member', 'trainer']) })

/** Rule 1: the groups in which the member is a member or which they train; `trainer` wins where both are true. */
export const groups = endpoint('GET /me/groups', 'svc.me.groups:read', clubMember, {
  summary: "The member's groups",
})
  .output(z.object({ items: z.array(group) }))
  .query(async ({ ctx: { core, member, club } }) => {
    const rows = await core.db.group.findMany({
      relationLoadStrategy: 'join',
      where: { clubId: club, people: { some: { personId: member } } },
      select: { id: true, name: true, people: { where: { personId: member }, select: { role: true } } },
      orderBy: [{ name: 'asc' }, { id: 'asc' }],
    })
    const items = rows.map(({ id, name, people }) => {
      const trains = people.some(({ role }) => role === 'trainer')
      return { id, name, role: trains ? ('trainer' as const) : ('member' as const) }
    })
    return { items }
  })
