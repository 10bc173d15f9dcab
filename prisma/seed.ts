import type { Database } from './client.ts'
import { demo } from './demo.ts'
import type { ScopesAt } from './demo-clients.ts'

/**
 * Inserts the demo data in one transaction. Existing rows stay unchanged, but for the times of its events, so it can run
 * repeatedly.
 */
export async function seed(db: Database, now: Date, scopesAt: ScopesAt): Promise<void> {
  const data = demo(now, scopesAt)
  const skipDuplicates = true
  await db.$transaction([
    db.organisation.createMany({ data: data.organisation, skipDuplicates }),
    db.person.createMany({ data: data.person, skipDuplicates }),
    db.membership.createMany({ data: data.membership, skipDuplicates }),
    db.group.createMany({ data: data.group, skipDuplicates }),
    db.groupMembership.createMany({ data: data.groupMembership, skipDuplicates }),
    db.calendar.createMany({ data: data.calendar, skipDuplicates }),
    db.event.createMany({ data: data.event, skipDuplicates }),
    db.eventGroup.createMany({ data: data.eventGroup, skipDuplicates }),
    db.trainingPlan.createMany({ data: data.trainingPlan, skipDuplicates }),
    db.exercise.createMany({ data: data.exercise, skipDuplicates }),
    db.planAssignment.createMany({ data: data.planAssignment, skipDuplicates }),
    db.competition.createMany({ data: data.competition, skipDuplicates }),
    db.participation.createMany({ data: data.participation, skipDuplicates }),
    db.discipline.createMany({ data: data.discipline, skipDuplicates }),
    db.competitionResult.createMany({ data: data.competitionResult, skipDuplicates }),
    db.memberCard.createMany({ data: data.memberCard, skipDuplicates }),
    db.team.createMany({ data: data.team, skipDuplicates }),
    db.teamMember.createMany({ data: data.teamMember, skipDuplicates }),
    db.app.createMany({ data: data.app, skipDuplicates }),
    db.client.createMany({ data: data.client, skipDuplicates }),
    db.lesson.createMany({ data: data.lesson, skipDuplicates }),
    db.quiz.createMany({ data: data.quiz, skipDuplicates }),
    db.question.createMany({ data: data.question, skipDuplicates }),
    ...moves(db, data.event),
  ])
}

/** Gives the demo's events that are still there the times that they would have in a database of today. */
export async function moveDemoEvents(db: Database, now: Date): Promise<void> {
  await db.$transaction(moves(db, demo(now, () => []).event))
}

const moves = (db: Database, events: ReturnType<typeof demo>['event']) =>
  events.map(({ id, clubId, start, end }) =>
    db.event.updateMany({ where: { id, clubId, NOT: { start, end } }, data: { start, end } }),
  )

/** Whether the database has no data yet. */
export async function isEmpty(db: Database): Promise<boolean> {
  return (await db.organisation.findFirst({ select: { id: true } })) === null
}
