import { z } from 'zod'
import { date, jsonStrings, statement, text } from '../../prisma/pg/statement.ts'
import { endpoint } from '../kernel/endpoint.ts'
import { isSameText } from '../kernel/equal-texts.ts'
import { clubMember } from '../kernel/policies.ts'
import { toPlainDate } from '../kernel/time.ts'

const card = z
  .object({
    serial: z.string().meta({ description: 'Serial number of the card.', examples: ['C-2026-0042'] }),
    status: z.string().meta({ description: 'State of the card, as stored by the club.', examples: ['valid'] }),
    valid: z.boolean().meta({
      description: 'Whether the card can be shown today: `status` is `valid` and `validUntil` has not passed (UTC).',
      examples: [true],
    }),
    name: z.string().meta({ description: 'Name of the member on the card.', examples: ['Anna Ahlers'] }),
    memberNumber: z.string().meta({ description: 'Number of the member in the club.', examples: ['1042'] }),
    departments: z
      .array(z.string())
      .meta({ description: 'Departments of the club that the member belongs to.', examples: [['Rowing']] }),
    validUntil: z.iso.date().meta({ description: 'Last day on which the card is valid.', examples: ['2026-12-31'] }),
  })
  .meta({ title: 'MemberCard', description: "The member's card." })

/** A card without an end has no form in the answer. */
const last = statement(
  'me_card',
  `SELECT serial, status, name, "memberNumber", to_json(coalesce(departments, '{}')) AS departments, "validUntil"
    FROM "MemberCard" WHERE "clubId" = $club AND "personId" = $member AND "validUntil" IS NOT NULL
    ORDER BY "issuedAt" DESC, serial DESC LIMIT 1`,
  { club: text, member: text },
  { serial: text, status: text, name: text, memberNumber: text, departments: jsonStrings, validUntil: date },
)

/** Rule 5: the stored card that was issued last. Reading never issues a card. */
export const membercard = endpoint('GET /me/membercard', 'svc.me.membercard:read', clubMember, {
  summary: "The member's card",
  description: 'The most recently issued card that has an end. Reading never issues a card.',
  returns: 'The card, or null.',
})
  .output(z.object({ card: card.nullable().meta({ description: 'The card; null when the member has none.' }) }))
  .query(async ({ ctx: { core, member, club } }) => {
    const [stored] = await core.db.execute(last, { club, member })
    if (!stored) return { card: null }
    const valid = isSameText(stored.status, 'valid') && stored.validUntil >= toPlainDate(new Date(core.now()))
    return { card: { ...stored, valid } }
  })
