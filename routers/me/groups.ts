import { z } from 'zod'
import type { Prisma } from '../../prisma/generated/client.ts'
import type { Admitted } from '../context.ts'
import { clubMembers, endpoint } from '../trpc.ts'

/** The member's groups: those of the club in which they are a member or which they train. Events and plans ask too. */
export const ownGroup = ({ member, principal: { organisation } }: Admitted) =>
  ({ clubId: organisation, people: { some: { personId: member } } }) satisfies Prisma.GroupWhereInput

const group = z.object({ id: z.string(), name: z.string(), role: z.enum(['member', 'trainer']) })

/** Rule 1: the groups in which the member is a member or which they train; whoever is both trains it. */
export const groups = endpoint('GET /me/groups', 'svc.me.groups:read', clubMembers, {
  summary: "The member's groups",
})
  .output(z.object({ items: z.array(group) }))
  .query(async ({ ctx }) => {
    const rows = await ctx.db.group.findMany({
      relationLoadStrategy: 'join',
      where: ownGroup(ctx),
      select: { id: true, name: true, people: { where: { personId: ctx.member }, select: { role: true } } },
      orderBy: [{ name: 'asc' }, { id: 'asc' }],
    })
    const items = rows.map(({ id, name, people }) => {
      const trains = people.some(({ role }) => role === 'trainer')
      return { id, name, role: trains ? ('trainer' as const) : ('member' as const) }
    })
    return { items }
  })
