import { z } from 'zod'
import { instant, int, json, nullable, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { personLabel } from '../../kernel/labels.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { unix } from '../../kernel/time.ts'
import { router } from '../../kernel/trpc.ts'
import type { Caller } from '../access/roles.ts'
import { lockTeam } from '../access/roles.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { idOr, invitationOutput } from '../shared/schemas.ts'
import { offerOwnInvitations } from './invited.ts'

const MAX_LISTED = 100

const invitation = z.object({ invitation: idOr('invitationUnknown') })
const team = z.object({ id: z.string(), name: z.string() })

const open = statement(
  'invitations_of_person',
  `SELECT invitation.id, role, ${unix('"expiresAt"')} AS "expiresAt",
      (SELECT ${personLabel('"Person"')} FROM "Person" WHERE id = "invitedBy") AS "invitedBy",
      (SELECT json_build_object('id', id, 'name', name) FROM "Team" WHERE id = "teamId") AS team
    FROM "TeamInvitation" invitation WHERE "personId" = $person AND "acceptedAt" IS NULL AND "expiresAt" > $now::timestamptz
    ORDER BY invitation.id LIMIT ${MAX_LISTED}`,
  { person: text, now: instant },
  {
    id: text,
    role: oneOf('owner', 'developer'),
    expiresAt: int,
    invitedBy: nullable(text),
    team: json<{ id: string; name: string }>(),
  },
)

/** Invitations to addresses that the caller has verified, or that the platform has for the caller alone. */
const openTo = ({ core, person }: Caller) => ({
  personId: person,
  acceptedAt: null,
  expiresAt: { gt: new Date(core.now()) },
})

const list = internal('dev:read', teamPeople, { summary: 'The invitations that the person can accept' })
  .output(
    z.object({
      items: z.array(invitationOutput.omit({ email: true }).extend({ team })),
    }),
  )
  .query(async ({ ctx }) => {
    await offerOwnInvitations(ctx.core.db, ctx.person, ctx.core.now())
    const items = await ctx.core.db.execute(open, { person: ctx.person, now: ctx.core.now() })
    return { items }
  })

async function find(ctx: Caller, id: string) {
  const found = await ctx.core.db.teamInvitation.findFirst({
    where: { id, ...openTo(ctx) },
    select: { role: true, team: { select: { id: true, name: true } } },
  })
  if (!found) throw errors.invitationUnknown()
  return found
}

const accept = internal('dev:write', teamPeople, {
  summary: 'Adds the person to the team that invites them',
  fails: ['invitationUnknown'],
})
  .input(invitation)
  .output(z.object({ team }))
  .mutation(async ({ ctx, input: { invitation: id } }) => {
    const { team, role } = await find(ctx, id)
    const author = toAuthor(ctx)
    return auditing(ctx.core.db, author, async (tx, note) => {
      await lockTeam(tx, team.id)
      const where = { id, ...openTo(ctx) }
      const { count } = await tx.teamInvitation.updateMany({ where, data: { acceptedAt: author.at } })
      if (count === 0) throw errors.invitationUnknown()
      const member = { teamId: team.id, personId: ctx.person, role, since: author.at }
      const joined = await tx.teamMember.createMany({ data: member, skipDuplicates: true })
      const after = { role, invitation: id }
      if (joined.count > 0) await note({ team: team.id, action: 'person.join', target: ctx.person, after })
      return { team }
    })
  })

/** The team learns that the address does not join, but not whose it is. */
const decline = internal('dev:write', teamPeople, {
  summary: 'Declines an invitation',
  fails: ['invitationUnknown'],
})
  .input(invitation)
  .output(z.object({ team }))
  .mutation(async ({ ctx, input: { invitation: id } }) => {
    const { team, role } = await find(ctx, id)
    return auditing(ctx.core.db, { person: null, at: new Date(ctx.core.now()) }, async (tx, note) => {
      await lockTeam(tx, team.id)
      const { count } = await tx.teamInvitation.deleteMany({ where: { id, ...openTo(ctx) } })
      if (count === 0) throw errors.invitationUnknown()
      await note({ team: team.id, action: 'invitation.decline', target: id, before: { role } })
      return { team }
    })
  })

export const invitations = router({ list, accept, decline })
