import { z } from 'zod'
import type { Transaction } from '../../../prisma/client.ts'
import { TeamRole } from '../../../prisma/generated/enums.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { bool, instant, oneOf, statement, text } from '../../../prisma/pg/statement.ts'
import { comparableEmail } from '../../kernel/email-address.ts'
import { internal } from '../../kernel/endpoint.ts'
import { errors } from '../../kernel/errors.ts'
import { fullName } from '../../kernel/labels.ts'
import { fillMailboxes } from '../../kernel/mailboxes.ts'
import { teamPeople } from '../../kernel/policies.ts'
import { DAY_MS, toUnix } from '../../kernel/time.ts'
import type { Caller } from '../access/roles.ts'
import { lockTeam, lockTeamAs, roleIn } from '../access/roles.ts'
import type { Note } from '../audit/record.ts'
import { auditing, toAuthor } from '../audit/record.ts'
import { MAILS_OF_TEAM, MAILS_TO_ADDRESS, queueInvitation } from '../mails/queue.ts'
import { newId } from '../shared/names.ts'
import { emailInput, idOr, invitationOutput, role } from '../shared/schemas.ts'

const team = idOr('teamUnknown')

export const INVITATION_DAYS = 7

/** A team's people and open invitations: limits what one owner can make the portal list. */
const MAX_PEOPLE = 100

/** A person who signs in with the e-mail address can accept. */
export const invite = internal('dev:write', teamPeople, {
  summary: 'Invites a person to a team',
  fails: ['teamUnknown', 'ownerNeeded', 'emailInvalid', 'alreadyInTeam', 'tooManyPeople'],
})
  .input(z.object({ team, email: emailInput, role }))
  .output(
    invitationOutput.extend({
      mailed: z.boolean().meta({
        description: `Whether a mail is queued: a team sends ${MAILS_OF_TEAM} in 24 hours, an address gets ${MAILS_TO_ADDRESS}`,
      }),
    }),
  )
  .mutation(async ({ ctx, input }) => {
    await roleIn(ctx, input.team, 'owner')
    await fillMailboxes(ctx.core.db)
    const author = toAuthor(ctx)
    return auditing(ctx.core.db, author, async (tx, note) => {
      await lockTeamAs(tx, ctx, { team: input.team, needed: 'owner' })
      const made = await addInvitation(tx, note, { ...input, by: ctx.person, now: author.at })
      return { ...made, invitedBy: await readName(ctx) }
    })
  })

interface Invitation {
  team: string
  email: string
  role: 'owner' | 'developer'
  /** Null for the operator. */
  by: string | null
  now: Date
}

const replace = statement(
  'invitation_replace',
  `DELETE FROM "TeamInvitation" WHERE "teamId" = $team AND email = $email AND "acceptedAt" IS NULL
    RETURNING id, role, "expiresAt" > $now::timestamptz AS "isOpen"`,
  { team: text, email: text, now: instant },
  { id: text, role: oneOf(...Object.values(TeamRole)), isOpen: bool },
)

/**
 * After `fillMailboxes`: replaces an earlier invitation to the same address, and queues its mail. The entries have no address, as
 * they outlive a person's erasure. Throws 400 and 409.
 */
export async function addInvitation(tx: Transaction, note: Note, { team, email: typed, role, by, now }: Invitation) {
  const email = comparableEmail(typed)
  if (email === null) throw errors.emailInvalid()
  await lockTeam(tx, team)
  const people = await tx.teamMember.findMany({
    where: { teamId: team },
    select: { person: { select: { email: true } } },
  })
  if (people.some(({ person }) => comparableEmail(person.email) === email)) throw errors.alreadyInTeam()
  for (const { id, role, isOpen } of await executeIn(tx, replace, { team, email, now })) {
    if (isOpen) await note({ team, action: 'invitation.remove', target: id, before: { role } })
  }
  const open = await tx.teamInvitation.count({ where: { teamId: team, acceptedAt: null, expiresAt: { gt: now } } })
  if (people.length + open >= MAX_PEOPLE) throw errors.tooManyPeople()
  const expiresAt = new Date(now.getTime() + INVITATION_DAYS * DAY_MS)
  const row = { id: newId('i'), email, role }
  await tx.teamInvitation.create({ data: { ...row, teamId: team, invitedBy: by, expiresAt }, select: { id: true } })
  await note({ team, action: 'invitation.create', target: row.id, after: { role } })
  const mailed = await queueInvitation(tx, { id: row.id, team, email, by, at: now })
  return { ...row, expiresAt: toUnix(expiresAt), mailed }
}

const readName = async ({ core, person }: Caller) => {
  const found = await core.db.person.findUnique({ where: { id: person } })
  return found && fullName(found)
}

export const withdraw = internal('dev:write', teamPeople, {
  summary: 'Withdraws an invitation',
  fails: ['teamUnknown', 'ownerNeeded', 'invitationUnknown'],
})
  .input(z.object({ team, invitation: idOr('invitationUnknown') }))
  .output(z.object({ id: z.string() }))
  .mutation(async ({ ctx, input: { team, invitation } }) => {
    await roleIn(ctx, team, 'owner')
    return auditing(ctx.core.db, toAuthor(ctx), async (tx, note) => {
      await lockTeamAs(tx, ctx, { team, needed: 'owner' })
      const where = { id: invitation, teamId: team, acceptedAt: null }
      const found = await tx.teamInvitation.findFirst({ where, select: { role: true } })
      const { count } = await tx.teamInvitation.deleteMany({ where })
      if (!found || count === 0) throw errors.invitationUnknown()
      await note({ team, action: 'invitation.remove', target: invitation, before: found })
      return { id: invitation }
    })
  })
