import { z } from 'zod'
import { toPlainDate } from '../time.ts'
import { clubMembers, endpoint } from '../trpc.ts'

const card = z.object({
  serial: z.string(),
  status: z.string(),
  valid: z.boolean(),
  name: z.string().meta({ description: 'member name on the card' }),
  memberNumber: z.string(),
  departments: z.array(z.string()),
  validUntil: z.iso.date(),
})

/** Rule 5: the stored card as the member sees it, the one issued last; reading never issues one. */
export const membercard = endpoint('GET /me/membercard', 'svc.me.membercard:read', clubMembers, {
  summary: "The member's card",
})
  .output(z.object({ card: card.nullable() }))
  .query(async ({ ctx }) => {
    const {
      member: personId,
      principal: { organisation: clubId },
    } = ctx
    const stored = await ctx.db.memberCard.findFirst({
      where: { clubId, personId },
      orderBy: [{ issuedAt: 'desc' }, { serial: 'desc' }],
    })
    if (!stored) return { card: null }
    const validUntil = toPlainDate(stored.validUntil)
    const valid = stored.status === 'valid' && validUntil >= toPlainDate(new Date(ctx.now()))
    return { card: { ...stored, valid, validUntil } }
  })
