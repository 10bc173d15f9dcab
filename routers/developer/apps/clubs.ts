import { z } from 'zod'
import { ClubApprovalState } from '../../../prisma/generated/enums.ts'
import { internal } from '../../kernel/endpoint.ts'
import { labelItems } from '../../kernel/labels.ts'
import { page } from '../../kernel/page.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { toUnix } from '../../kernel/time.ts'
import { teamOfApp } from '../access/roles.ts'
import { idOr, more, named } from '../shared/schemas.ts'

export const clubs = internal('dev:read', teamPeople, {
  summary: 'What clubs have decided about an app, and have been asked, the last change first',
  fails: ['ownAppUnknown'],
})
  .input(z.object({ app: idOr('ownAppUnknown'), ...page }))
  .output(
    z.object({
      items: z.array(
        z.object({
          club: named,
          state: z.enum(ClubApprovalState),
          reason: z.string().nullable(),
          at: z.int().meta({ description: 'When it was decided, or asked for, in Unix seconds' }),
        }),
      ),
      more,
    }),
  )
  .query(async ({ ctx, input: { app, limit, offset } }) => {
    await teamOfApp(ctx, app)
    const rows = await ctx.core.db.clubApproval.findMany({
      where: { appId: app },
      include: { organisation: { select: { id: true, name: true } } },
      orderBy: { number: 'desc' },
      skip: offset,
      take: limit + 1,
    })
    const labels = labelItems(rows.map(({ organisation }) => organisation))
    const items = rows.slice(0, limit).map(({ organisation: { id }, state, reason, requestedAt, decidedAt }) => ({
      club: { id, name: labels.get(id)! },
      state,
      reason,
      at: toUnix(decidedAt ?? requestedAt!),
    }))
    return { items, more: rows.length > limit }
  })
