import type { Database } from './client.ts'
import { demo } from './demo.ts'
import type { ScopesAt } from './demo-clients.ts'
import { instants, statement, text, texts } from './pg/statement.ts'

/**
 * Inserts the demo data in one transaction, then moves its events to today. Other existing rows stay unchanged, so it can be run
 * repeatedly.
 */
export async function seed(db: Database, now: Date, scopesAt: ScopesAt): Promise<void> {
  const data = demo(now, scopesAt)
  const skipDuplicates = true
  await db.$transaction(async (tx) => {
    await tx.organisation.createMany({ data: data.organisation, skipDuplicates })
    await tx.person.createMany({ data: data.person, skipDuplicates })
    await tx.membership.createMany({ data: data.membership, skipDuplicates })
    await tx.group.createMany({ data: data.group, skipDuplicates })
    await tx.groupMembership.createMany({ data: data.groupMembership, skipDuplicates })
    await tx.calendar.createMany({ data: data.calendar, skipDuplicates })
    await tx.event.createMany({ data: data.event, skipDuplicates })
    await tx.eventGroup.createMany({ data: data.eventGroup, skipDuplicates })
    await tx.trainingPlan.createMany({ data: data.trainingPlan, skipDuplicates })
    await tx.exercise.createMany({ data: data.exercise, skipDuplicates })
    await tx.planAssignment.createMany({ data: data.planAssignment, skipDuplicates })
    await tx.competition.createMany({ data: data.competition, skipDuplicates })
    await tx.participation.createMany({ data: data.participation, skipDuplicates })
    await tx.discipline.createMany({ data: data.discipline, skipDuplicates })
    await tx.competitionResult.createMany({ data: data.competitionResult, skipDuplicates })
    await tx.memberCard.createMany({ data: data.memberCard, skipDuplicates })
    await tx.team.createMany({ data: data.team, skipDuplicates })
    await tx.teamMember.createMany({ data: data.teamMember, skipDuplicates })
    await tx.app.createMany({ data: data.app, skipDuplicates })
    await tx.client.createMany({ data: data.client, skipDuplicates })
    await tx.lesson.createMany({ data: data.lesson, skipDuplicates })
    await tx.quiz.createMany({ data: data.quiz, skipDuplicates })
    await tx.question.createMany({ data: data.question, skipDuplicates })
    await tx.quizResult.createMany({ data: data.quizResult, skipDuplicates })
    await tx.answer.createMany({ data: data.answer, skipDuplicates })
  })
  await move(db, data.event)
}

const moveEvents = statement(
  'seed_move_events',
  `UPDATE "Event" SET start = moved.start, "end" = moved."end"
  FROM unnest($ids::text[], $clubs::text[], $starts::timestamptz[], $ends::timestamptz[]) AS moved (id, club, start, "end")
  WHERE "Event".id = moved.id AND "clubId" = club AND ("Event".start, "Event"."end") <> (moved.start, moved."end")`,
  { ids: texts, clubs: texts, starts: instants, ends: instants },
  {},
)

const move = (db: Database, events: ReturnType<typeof demo>['event']) =>
  db.execute(moveEvents, {
    ids: events.map(({ id }) => id),
    clubs: events.map(({ clubId }) => clubId),
    starts: events.map(({ start }) => start),
    ends: events.map(({ end }) => end),
  })

/** Gives the demo's remaining events the times that they would have in a database created today. */
export async function moveDemoEvents(db: Database, now: Date): Promise<void> {
  await move(db, demo(now, () => []).event)
}

const findOrganisation = statement('seed_organisation', 'SELECT id FROM "Organisation" LIMIT 1', {}, { id: text })

export async function isEmpty(db: Database): Promise<boolean> {
  return (await db.execute(findOrganisation, {})).length === 0
}
