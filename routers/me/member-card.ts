import { z } from 'zod'
import { endpoint } from '../endpoint.ts'
import { clubMember } from '../policies.ts'
import { toPlainDate } from '../time.ts'

const card = z.object({
  serial: z.string(),
  status: z.string(),
  valid: z.boolean(),
  name: z.string().meta({ description: 'member name on the card' }),
  memberNumber: z.string(),
  departments: z.array(z.string()),
  validUntil: z.iso.date(),
})

/** Rule 5: the stored card that was issued last; a card without an end has no form in the answer. Reading never issues a card. */
export const membercard = endpoint('GET /me/membercard', 'svc.me.membercard:read', clubMember, {
  summary: "The member's card",
})
  .output(z.object({ card: card.nullable() }))
  .query(async ({ ctx: { core, member, club } }) => {
    const stored = await core.db.memberCard.findFirst({
      where: { clubId: club, personId: member, validUntil: { not: null } },
      orderBy: [{ issuedAt: 'desc' }, { serial: 'desc' }],
    })
    if (!stored) return { card: null }
    const validUntil = toPlainDate(stored.validUntil!)
    const valid = stored.status === 'valid' && validUntil >= toPlainDate(new Date(core.now()))
    return { card: { ...stored, valid, validUntil } }
  })
