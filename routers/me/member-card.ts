import { z } from 'zod'
import { bool, bytea, date, instant, jsonStrings, nullable, statement, text } from '../../prisma/pg/statement.ts'
import type { Core } from '../kernel/context.ts'
import { endpoint } from '../kernel/endpoint.ts'
import { isSameText } from '../kernel/equal-texts.ts'
import { organisationLabel } from '../kernel/labels.ts'
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
export async function findCard({ db, now }: Pick<Core, 'db' | 'now'>, of: { club: string; member: string }) {
  const [stored] = await db.execute(last, of)
  if (!stored) return null
  const valid = isSameText(stored.status, 'valid') && stored.validUntil >= toPlainDate(new Date(now()))
  return { ...stored, valid }
}

const byHash = statement(
  'card_by_hash',
  `SELECT serial, "clubId" AS club, "personId" AS member, card.name, ${organisationLabel('organisation')} AS "clubName", "validUntil",
      EXISTS (SELECT FROM "Membership" WHERE "organisationId" = "clubId" AND "Membership"."personId" = card."personId"
        AND ("leftAt" IS NULL OR "leftAt" > $now)) AS "isMember"
    FROM "MemberCard" card JOIN "Organisation" organisation ON organisation.id = "clubId"
    WHERE substr(sha256(replace(serial, '\\', '\\\\')::bytea), 1, 16) = $hash`,
  { hash: bytea, now: instant },
  {
    serial: text,
    club: text,
    member: text,
    name: text,
    clubName: text,
    validUntil: nullable(date),
    isMember: bool,
  },
)

/** The card with this hash of its serial, and whether a member can show it now; null where it no longer exists. */
export async function findShownCard(core: Pick<Core, 'db' | 'now'>, hash: Buffer) {
  const [shown] = await core.db.execute(byHash, { hash, now: core.now() })
  if (!shown) return null
  const current = shown.isMember ? await findCard(core, shown) : null
  const { name, clubName: club, validUntil } = shown
  return { name, club, validUntil, valid: current?.serial === shown.serial && current.valid }
}

export const membercard = endpoint('GET /me/membercard', 'svc.me.membercard:read', clubMember, {
  summary: "The member's card",
  description: 'The most recently issued card that has an end. Reading never issues a card.',
  returns: 'The card, or null.',
})
  .output(z.object({ card: card.nullable().meta({ description: 'The card; null when the member has none.' }) }))
  .query(async ({ ctx: { core, ...of } }) => ({ card: await findCard(core, of) }))
