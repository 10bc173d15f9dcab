import { randomUUID } from 'node:crypto'
import type { Transaction } from '../../../prisma/client.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { statement, text } from '../../../prisma/pg/statement.ts'
import { removeEntries } from '../../storage/removal.ts'
import type { TestClub } from './content.ts'
import { buildContent, entries } from './content.ts'

/** Stores the content of an empty test club, with example entries of all apps of the team; returns their ids. */
export async function fill(tx: Transaction, club: TestClub, now: Date): Promise<string[]> {
  const data = buildContent(club, now)
  await tx.group.createMany({ data: data.group })
  await tx.groupMembership.createMany({ data: data.groupMembership })
  await tx.calendar.createMany({ data: data.calendar })
  await tx.event.createMany({ data: data.event })
  await tx.eventGroup.createMany({ data: data.eventGroup })
  await tx.trainingPlan.createMany({ data: data.trainingPlan })
  await tx.exercise.createMany({ data: data.exercise })
  await tx.planAssignment.createMany({ data: data.planAssignment })
  await tx.competition.createMany({ data: data.competition })
  await tx.discipline.createMany({ data: data.discipline })
  await tx.competitionResult.createMany({ data: data.competitionResult })
  await tx.memberCard.createMany({ data: data.memberCard })
  await tx.lesson.createMany({ data: data.lesson })
  await tx.quiz.createMany({ data: data.quiz })
  await tx.question.createMany({ data: data.question })
  const found = await tx.app.findMany({ where: { teamId: club.team }, select: { id: true } })
  const apps = found.map(({ id }) => id)
  await addEntries(tx, club.club, apps, now)
  return apps
}

const lockStores = statement(
  'test_club_lock_stores',
  'SELECT "appId" AS app FROM "StorageUsage" WHERE "clubId" = $club ORDER BY "appId" FOR NO KEY UPDATE',
  { club: text },
  { app: text },
)

const removeRequests = statement(
  'test_club_remove_requests',
  `DELETE FROM "StorageRequest" request USING "StorageUsage" store
    WHERE store."clubId" = $club AND request."appId" = store."appId" AND request."clubId" = $club`,
  { club: text },
  {},
)

/** Removes all that is in a test club, but not its people. */
export async function clear(tx: Transaction, { team, club: clubId, academy: academyId }: TestClub): Promise<void> {
  // Store by store, as their indexes begin with the app; locked first, as by writers.
  const stores = await executeIn(tx, lockStores, { club: clubId })
  for (const { app } of stores) await removeEntries(tx, { app, club: clubId })
  await executeIn(tx, removeRequests, { club: clubId })
  await tx.event.deleteMany({ where: { clubId } })
  await tx.calendar.deleteMany({ where: { clubId } })
  await tx.trainingPlan.deleteMany({ where: { clubId } })
  await tx.group.deleteMany({ where: { clubId } })
  await tx.competition.deleteMany({ where: { hostId: clubId } })
  await tx.discipline.deleteMany({ where: { testTeamId: team } })
  await tx.memberCard.deleteMany({ where: { clubId } })
  await tx.quiz.deleteMany({ where: { academyId } })
  await tx.lesson.deleteMany({ where: { academyId } })
}

const lockStore = statement(
  'test_club_lock_store',
  `SELECT FROM storage_lock_store($app, $club, '', '{}')`,
  { app: text, club: text },
  {},
)

/** Stores the example entries of apps, unless they have some of these keys. */
export async function addEntries(tx: Transaction, clubId: string, apps: readonly string[], now: Date): Promise<void> {
  for (const app of apps.toSorted()) await executeIn(tx, lockStore, { app, club: clubId })
  await tx.storageEntry.createMany({
    data: apps.flatMap((appId) =>
      entries.map((entry) => ({ appId, clubId, owner: '', ...entry, version: randomUUID(), updatedAt: now })),
    ),
    skipDuplicates: true,
  })
}
