import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { migratedDatabase } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'

const base = `
  INSERT INTO "Organisation" (id, kind, name) VALUES
    ('club', 'club', 'C'), ('other', 'club', 'O'), ('academy', 'academy', 'A'), ('academy2', 'academy', 'A'), ('provider', 'provider', 'P');
  INSERT INTO "Person" (id, "firstName", "lastName", email) VALUES ('anna', 'A', 'B', 'a@example.org');
  INSERT INTO "Membership" ("organisationId", "personId") VALUES ('club', 'anna');
  INSERT INTO "Group" (id, "clubId", name) VALUES ('g1', 'club', 'G'), ('g2', 'club', 'G'), ('og', 'other', 'G');
  INSERT INTO "Calendar" (id, "clubId", name, visible) VALUES ('cal', 'club', 'C', true), ('ocal', 'other', 'C', true);
  INSERT INTO "Event" (id, "clubId", title, start, "end", location) VALUES ('e', 'club', 'E', now(), now(), '');
  INSERT INTO "TrainingPlan" (id, "clubId", name, category, description) VALUES ('plan', 'club', 'P', '', '');
  INSERT INTO "Competition" (id, "hostId", name) VALUES ('cup', 'club', 'Cup'), ('cup2', 'club', 'Cup');
  INSERT INTO "Discipline" (id, name) VALUES ('100m', '100 m');
  INSERT INTO "Lesson" (id, "academyId", title) VALUES ('lesson', 'academy', 'L');
  INSERT INTO "Quiz" (id, "academyId", title, threshold, "lessonId") VALUES ('quiz', 'academy', 'Q', 50, 'lesson');
  INSERT INTO "Team" (id, name, level) VALUES ('team', 'T', 'developer');
  INSERT INTO "App" (id, name, "teamId", "providerId") VALUES ('app', 'A', 'team', 'provider');
`

/** The connection of the test file that called `startModelRows`, in a transaction with these rows. */
export let client: pg.Client
let url: string

export const open = async () => {
  const opened = pgClient(url)
  await opened.connect()
  return opened
}

/** A database of its own for the file; each test begins with the same rows. */
export function startModelRows() {
  beforeAll(async () => {
    url = await migratedDatabase(afterAll)
    client = await open()
  })
  afterAll(() => client.end())
  beforeEach(async () => {
    await client.query('BEGIN')
    await client.query(base)
  })
  afterEach(async () => {
    await client.query('ROLLBACK')
  })
}

/** The name of the constraint that refuses it; null when it is taken. */
export async function readRefusal(sql: string, values?: unknown[]): Promise<string | null> {
  await client.query('SAVEPOINT before')
  try {
    await client.query(sql, values)
    await client.query('RELEASE before')
    return null
  } catch (error) {
    await client.query('ROLLBACK TO before')
    const { constraint, code, message } = error as pg.DatabaseError
    return constraint ?? `${code} ${message}`
  }
}
/** The rows of a query. */
export const readRows = async (sql: string) => (await client.query<Record<string, unknown>>(sql)).rows
