import type { Database, Transaction } from '../../prisma/client.ts'
import { auditing } from './auditing.ts'
import { newId } from './names.ts'
import { lockTeam } from './team-of.ts'

/** A person who has proved that an e-mail address is theirs; `email` is in the form of `comparableEmail`. */
interface Invited {
  email: string
  now: Date
}

const open = ({ email, now }: Invited) => ({ email, acceptedAt: null, expiresAt: { gt: now } })

export const isInvited = async (db: Database, invited: Invited): Promise<boolean> =>
  (await db.teamInvitation.count({ where: open(invited) })) > 0

/** Makes a person of the teams that have invited the address. */
export async function acceptInvitations(db: Database, invited: Invited, person: string): Promise<void> {
  if (await isInvited(db, invited)) await accept(db, invited, person, async () => {})
}

/** Makes a new person of these teams. Null when the invitations have ended meanwhile. */
export async function acceptAsNewPerson(db: Database, invited: Invited): Promise<{ id: string; name: string } | null> {
  const { email } = invited
  // The name that is known. The platform may give the person another one.
  const person = { id: newId('p'), firstName: email.slice(0, email.lastIndexOf('@')), lastName: '' }
  const joined = await accept(db, invited, person.id, async (tx) => {
    await tx.person.create({ data: { ...person, email }, select: { id: true } })
  })
  return joined ? { id: person.id, name: person.firstName } : null
}

const accept = (db: Database, invited: Invited, person: string, prepare: (tx: Transaction) => Promise<void>) =>
  auditing(db, { person, at: invited.now }, async (tx, note) => {
    const where = open(invited)
    const teams = await tx.teamInvitation.findMany({ where, select: { teamId: true }, distinct: 'teamId' })
    for (const teamId of teams.map((one) => one.teamId).toSorted()) await lockTeam(tx, teamId)
    // Read again: another sign-in may have been first.
    const invitations = await tx.teamInvitation.findMany({ where, orderBy: { id: 'asc' } })
    if (invitations.length === 0) return false
    await prepare(tx)
    await tx.teamInvitation.updateMany({
      where: { id: { in: invitations.map(({ id }) => id) } },
      data: { acceptedAt: invited.now },
    })
    for (const { id, teamId, role } of invitations) {
      const data = { teamId, personId: person, role, since: invited.now }
      const { count } = await tx.teamMember.createMany({ data, skipDuplicates: true })
      if (count > 0)
        await note({ team: teamId, action: 'person.join', target: person, after: { role, invitation: id } })
    }
    return true
  })
