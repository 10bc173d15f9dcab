import type { Database } from '../../../prisma/client.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { instant, statement, text } from '../../../prisma/pg/statement.ts'
import { comparableEmail } from '../../kernel/email-address.ts'
import { fullName } from '../../kernel/labels.ts'
import { fillMailboxes, isShared } from '../../kernel/mailboxes.ts'
import { newId } from '../shared/names.ts'

/** A verified e-mail address, in the form of `comparableEmail`. */
interface Invited {
  email: string
  now: Date
}

const open = ({ email, now }: Invited) => ({ email, acceptedAt: null, expiresAt: { gt: now } })

export const isInvited = async (db: Database, invited: Invited): Promise<boolean> =>
  (await db.teamInvitation.count({ where: open(invited) })) > 0

/** Lets a person accept the open invitations to their address. Until they do, they are in no team, and no team sees them. */
export async function offerInvitations(db: Database, invited: Invited, person: string): Promise<void> {
  await db.teamInvitation.updateMany({ where: open(invited), data: { personId: person } })
}

const offerOwn = statement(
  'invitations_offer_own',
  `UPDATE "TeamInvitation" SET "personId" = $person
    WHERE email = $email AND "personId" IS NULL AND "acceptedAt" IS NULL AND "expiresAt" > $now::timestamptz
      AND NOT ${isShared('$email', '$person')}`,
  { person: text, email: text, now: instant },
  {},
)

/**
 * The same for the address that the platform has for a person, whenever they look. One that several people share, as families do,
 * has to be verified at a sign-in.
 */
export async function offerOwnInvitations(db: Database, person: string, now: number): Promise<void> {
  const found = await db.person.findUnique({ where: { id: person }, select: { email: true } })
  const email = found && comparableEmail(found.email)
  if (!email) return
  await fillMailboxes(db)
  await db.execute(offerOwn, { person, email, now })
}

const lock = statement(
  'invitations_lock',
  'SELECT FROM "TeamInvitation" WHERE email = $email ORDER BY id FOR UPDATE',
  { email: text },
  {},
)

/** Returns a new person for an invited address that no person has, or null when the invitations have ended meanwhile. */
export const personForInvited = (db: Database, invited: Invited): Promise<{ id: string; name: string } | null> =>
  db.$transaction(async (tx) => {
    const { email } = invited
    // The later of two concurrent sign-ins finds the person that the other created.
    await executeIn(tx, lock, { email })
    const found = await tx.teamInvitation.findFirst({
      where: open(invited),
      orderBy: { personId: { sort: 'asc', nulls: 'last' } },
      select: { person: { select: { id: true, firstName: true, lastName: true } } },
    })
    if (!found) return null
    if (found.person) return { id: found.person.id, name: fullName(found.person) }
    // The only known name. The platform may replace it.
    const person = { id: newId('p'), firstName: email.slice(0, email.lastIndexOf('@')), lastName: '' }
    await tx.person.create({ data: { ...person, email }, select: { id: true } })
    await tx.teamInvitation.updateMany({ where: open(invited), data: { personId: person.id } })
    return { id: person.id, name: person.firstName }
  })
