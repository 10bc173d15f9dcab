import type { Database } from '../../prisma/client.ts'
import { lockTeam } from '../../routers/developer/access/roles.ts'
import { auditing } from '../../routers/developer/audit/record.ts'
import { nameFaults } from '../../routers/developer/shared/registration.ts'
import { formatSentence } from '../../routers/developer/shared/validation.ts'
import { addInvitation } from '../../routers/developer/teams/invitations.ts'
import { fillMailboxes } from '../../routers/kernel/mailboxes.ts'
import type { Level } from '../../routers/kernel/scopes.ts'

interface NewTeam {
  id: string
  name: string
  level: Level
}

export async function addTeam(db: Database, { id, name, level }: NewTeam, at: Date): Promise<void> {
  const faults = nameFaults('team', { id, name })
  if (faults.length > 0) throw new Error(faults.map(formatSentence).join('\n'))
  await auditing(db, { person: null, at }, async (tx, note) => {
    const { count } = await tx.team.createMany({ data: { id, name, level }, skipDuplicates: true })
    if (count === 0) throw new Error(`The team ${id} already exists.`)
    await note({ team: id, action: 'team.create', target: id, after: { name, level } })
  })
}

/** Scopes above the level are no longer granted, and return with the level. */
export const setLevel = (db: Database, team: string, level: Level, at: Date): Promise<void> =>
  auditing(db, { person: null, at }, async (tx, note) => {
    await lockTeam(tx, team)
    const before = await tx.team.findUnique({ where: { id: team }, select: { level: true } })
    if (!before) throw new Error(`Team ${team} does not exist.`)
    await tx.team.update({ where: { id: team }, data: { level } })
    await note({ team, action: 'team.setLevel', target: team, before, after: { level } })
  })

interface Invited {
  team: string
  email: string
  role: 'owner' | 'developer'
}

export async function inviteToTeam(db: Database, { team, email, role }: Invited, at: Date) {
  await fillMailboxes(db)
  return auditing(db, { person: null, at }, async (tx, note) => {
    if (!(await tx.team.findUnique({ where: { id: team } }))) throw new Error(`Team ${team} does not exist.`)
    return addInvitation(tx, note, { team, email, role, by: null, now: at })
  })
}

export const listTeams = (db: Database) =>
  db.team.findMany({
    select: {
      id: true,
      name: true,
      level: true,
      people: { where: { role: 'owner' }, select: { personId: true }, orderBy: { personId: 'asc' } },
      _count: { select: { people: true, apps: true, clients: true } },
    },
    orderBy: { id: 'asc' },
  })
