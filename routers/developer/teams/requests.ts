import type { Database, Transaction } from '../../../prisma/client.ts'
import { auditing } from '../audit/record.ts'
import { queueMails, queueToPerson } from '../mails/queue.ts'
import { readTeamRequest } from '../reviews/stored.ts'
import type { ReviewAct } from '../reviews/transitions.ts'
import { stateAfter } from '../reviews/transitions.ts'
import { foundTeam, holdFounder, holdPerson } from './new-team.ts'

const person = { select: { id: true, firstName: true, lastName: true, email: true } } as const

/** The pending requests for teams, the oldest first. */
export const listTeamRequests = (db: Database) =>
  db.teamRequest.findMany({
    where: { state: 'requested' },
    orderBy: [{ requestedAt: 'asc' }, { id: 'asc' }],
    include: { person },
  })

interface Subject {
  id: string
  /** The one that the operator has read: another one is not decided on. */
  version?: number | undefined
}

/** Makes the person the owner of a new Hobby team. Throws when nothing is pending, or when it differs from what was read. */
export const approveTeam = (db: Database, subject: Subject & { version: number }, at: Date) => {
  const author = { person: null, at }
  return auditing(db, author, async (tx, note) => {
    const { id, name, personId } = await take(tx, subject, 'approve')
    await holdFounder(tx, personId)
    await tx.teamRequest.delete({ where: { id }, select: { id: true } })
    await foundTeam(tx, note, { id, name, person: personId, author })
    await queueMails(tx, { kind: 'requestApproved', team: id, to: 'owners', about: { name, isTeam: true }, at })
    return { id, name }
  })
}

/** The person finds the reason beside what they asked for, and may ask again. */
export const refuseTeam = (db: Database, subject: Subject, reason: string, at: Date) =>
  db.$transaction(async (tx) => {
    const { id, name, personId } = await take(tx, subject, 'refuse')
    await tx.teamRequest.update({
      where: { id },
      data: { state: 'refused', reason, refusedAt: at, version: { increment: 1 } },
      select: { id: true },
    })
    const about = { name, isTeam: true, reason }
    await queueToPerson(tx, { kind: 'requestRefused', person: personId, about, at })
    return { id, name }
  })

/** Read again once its person, and so other operators, are held. */
async function take(tx: Transaction, { id, version }: Subject, act: ReviewAct) {
  const of = await tx.teamRequest.findUnique({ where: { id }, select: { personId: true } })
  if (of) await holdPerson(tx, of.personId)
  const found = of && (await tx.teamRequest.findUnique({ where: { id } }))
  if (!found || stateAfter(readTeamRequest(found), act) === undefined) {
    throw new Error(`The request for a team ${id} is not pending.`)
  }
  if (version !== undefined && version !== found.version) {
    throw new Error(`The request for a team ${id} has changed and now has version ${found.version}. Read it again.`)
  }
  return found
}
