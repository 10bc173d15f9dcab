import { randomUUID } from 'node:crypto'
import type { ClientBase } from 'pg'
import type { Database } from '../../../prisma/client.ts'
import { MemberEvent } from '../../../prisma/generated/enums.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import {
  bool,
  instant,
  int,
  ints,
  json,
  jsonArray,
  nullable,
  oneOf,
  statement,
  text,
  texts,
  timestamp,
} from '../../../prisma/pg/statement.ts'
import { CONSENT_MS } from '../../kernel/access.ts'
import { retryingDeadlocks } from '../../kernel/database-errors.ts'
import { formatBody } from '../deliveries/request.ts'
import { memberEventTypes } from '../event-types.ts'
import { deliver } from '../events.ts'
import { receives } from './announce.ts'

/** One event of a type about a member of an app in this time. */
const PAUSE_MS = 60_000
/** Changes per transaction. */
const PORTION = 500
/** The advisory lock: without it, one of two publishers would not see what the other has just published. */
const LOCK = 7_301_482_651

/**
 * SQL: whether there is something to publish at a time, or a pause that is over. In the order of the index: later ones are not
 * read.
 */
export const changesDue = (now: string) => `EXISTS (SELECT FROM (SELECT FROM "MemberChange" WHERE at <= ${now}
  AND ("publishedAt" IS NULL OR "publishedAt" <= ${now} - interval '${PAUSE_MS} ms') ORDER BY at LIMIT 1) first)`

/** SQL: when the next change takes effect after a time: the end of a membership may be known before. */
export const nextChange = (now: string) => `(SELECT min(at) FROM "MemberChange" WHERE at > ${now})`

const scopes = Object.fromEntries(Object.entries(memberEventTypes).map(([kind, { scope }]) => [kind, scope]))

/** A consent to any client of the app that was given after `consentedSince` and `state`, with the scope of the event. */
const consented = (
  state: string,
) => `EXISTS (SELECT FROM "Consent" consent JOIN "Client" other ON other.id = consent."clientId"
  WHERE consent."personId" = person AND consent."organisationId" = organisation AND other."appId" = found.app
    AND ${state} AND consent."createdAt" > $consentedSince::timestamptz
    AND (scope IS NULL OR scope = ANY (consent.scopes) AND scope = ANY (other.scopes)))`

const consents = consented('"withdrawnAt" IS NULL')
/** A later change of the membership has withdrawn it. */
const consentsUntil = consented('"withdrawnAt" >= at')

const membership = (leftAt: string) => `EXISTS (SELECT FROM "Membership" WHERE "organisationId" = organisation
  AND "personId" = person AND ${leftAt})`

const isMember = membership('("leftAt" IS NULL OR "leftAt" > $now)')

const statements = {
  lock: statement('member_events_lock', `SELECT pg_try_advisory_xact_lock(${LOCK}) AS locked`, {}, { locked: bool }),
  pause: statement('member_events_pause', `SELECT FROM pg_advisory_xact_lock(${LOCK})`, {}, {}),
  /** A few at a time. */
  removePauses: statement(
    'member_events_remove_pauses',
    `DELETE FROM "MemberChange" WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM "MemberChange" WHERE at <= $since AND "publishedAt" <= $since LIMIT ${10 * PORTION}))`,
    { since: instant },
    {},
  ),
  /** From the oldest changes on, so that a portion of very many takes no longer; then all changes of the same event. */
  due: statement(
    'member_events_due',
    `WITH first AS MATERIALIZED (
    SELECT client."appId" AS app, change."organisationId" AS organisation, change."personId" AS person, change.kind,
      change."resultId" AS result
    FROM "MemberChange" change LEFT JOIN "Client" client ON client.id = change."clientId"
    WHERE change.at <= $now AND change."publishedAt" IS NULL AND NOT EXISTS (
      SELECT FROM "MemberChange" last JOIN "Client" other ON other.id = last."clientId"
      WHERE last."personId" = change."personId" AND last."organisationId" = change."organisationId"
        AND last.kind = change.kind AND last."resultId" = change."resultId" AND other."appId" = client."appId"
        AND last."publishedAt" > $since)
    ORDER BY change.at LIMIT ${PORTION}
  ), found AS MATERIALIZED (
    SELECT app, organisation, person, kind, result, max(at) AS at, json_agg(id) AS ids
    FROM (SELECT DISTINCT * FROM first) event CROSS JOIN LATERAL (
      SELECT change.at, change.id FROM "MemberChange" change LEFT JOIN "Client" client ON client.id = change."clientId"
      WHERE change."personId" = event.person AND change."organisationId" = event.organisation AND change.kind = event.kind
        AND change."resultId" = event.result AND client."appId" IS NOT DISTINCT FROM event.app
        AND change.at <= $now AND change."publishedAt" IS NULL) change
    GROUP BY app, organisation, person, kind, result
  )
  SELECT found.app, organisation, person, found.kind, result, at AS "changedAt", ids, "quizId" AS quiz, deadline, club."isTest",
    EXISTS (SELECT FROM "App" app WHERE app.id = found.app AND ${receives('club."isTest"')}) AND CASE found.kind
      WHEN 'consentWithdrawn' THEN NOT ${consents}
      WHEN 'quizReviewed' THEN "quizId" IS NOT NULL AND ${isMember} AND ${consents}
      WHEN 'dataRequested' THEN deadline IS NOT NULL AND ${isMember} AND ${consents}
      WHEN 'left' THEN ${membership('"leftAt" = at')} AND ${consents} OR ${membership('"leftAt" <= $now')} AND ${consentsUntil}
        OR NOT ${membership('true')}
      ELSE ${isMember} AND ${consents} END AS publishes
  FROM found LEFT JOIN "QuizResult" ON "QuizResult".id = result LEFT JOIN "DataRequest" ON "DataRequest".id = result
    CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM "Organisation" WHERE id = organisation AND "testTeamId" IS NOT NULL) AS "isTest") club
    CROSS JOIN LATERAL (SELECT $scopes::jsonb ->> found.kind::text AS scope) needed`,
    { now: instant, since: instant, scopes: json<Record<string, string | undefined>>(), consentedSince: instant },
    {
      app: nullable(text),
      organisation: text,
      person: text,
      kind: oneOf(...Object.values(MemberEvent)),
      result: text,
      changedAt: instant,
      ids: jsonArray<number>(),
      quiz: nullable(text),
      deadline: nullable(timestamp),
      isTest: bool,
      publishes: bool,
    },
  ),
  store: statement(
    'member_events_store',
    `WITH event AS (
        INSERT INTO "PublishedEvent" ("appId", id, type, body, "publishedAt", "isTest")
        SELECT app.id, new.id, type, body, $now::timestamptz, "isTest"
        FROM json_to_recordset($events) AS new (app text, id text, type text, body text, "isTest" bool) JOIN "App" app ON app.id = new.app
        FOR KEY SHARE OF app RETURNING "appId", id, type, "publishedAt", "isTest"
      ), ${deliver} SELECT count(*) AS deliveries FROM delivery`,
    { events: json<object[]>(), now: instant },
    { deliveries: int },
  ),
  /** One row of each event stays for a minute, and postpones the next one. */
  postpone: statement(
    'member_events_postpone',
    `UPDATE "MemberChange" SET "publishedAt" = $now FROM unnest($persons::text[], $ids::int8[]) AS row (person, id)
      WHERE "personId" = row.person AND "MemberChange".id = row.id`,
    { now: instant, persons: texts, ids: ints },
    {},
  ),
  remove: statement(
    'member_events_remove',
    `DELETE FROM "MemberChange" USING unnest($persons::text[], $ids::int8[]) AS row (person, id)
      WHERE "personId" = row.person AND "MemberChange".id = row.id AND "publishedAt" IS NULL`,
    { persons: texts, ids: ints },
    {},
  ),
}

/** An event, of all changes since the last one. */
type Due = ReturnType<typeof statements.due.decode>

/**
 * Publishes events about members whose data has changed, and resolves to the number of events that were due; 0 when nothing is
 * left, or another process does it. A change is followed by an event of its own or, less than a minute after the last one of this
 * type about this member, by one at the end of that minute. `now` is Unix time in milliseconds.
 */
export async function publishMemberEvents(db: Database, now: number): Promise<number> {
  const since = now - PAUSE_MS
  return retryingDeadlocks(() =>
    db.inTransaction(async (client) => {
      const [lock] = await executeIn(client, statements.lock, {})
      if (!lock!.locked) return 0
      await executeIn(client, statements.removePauses, { since })
      const rows = await executeIn(client, statements.due, { now, since, scopes, consentedSince: now - CONSENT_MS })
      await store(
        client,
        now,
        rows.filter(({ publishes }) => publishes),
      )
      await remove(client, rows)
      return rows.length
    }),
  )
}

/** Waits for the publisher at work, and lets none begin before the end of the transaction. */
export const pausePublishing = (client: ClientBase) => executeIn(client, statements.pause, {})

async function store(client: ClientBase, now: number, rows: readonly Due[]) {
  const publishedAt = new Date(now).toISOString()
  const events = rows.map((row) => {
    const { type } = memberEventTypes[row.kind]
    const id = randomUUID()
    return {
      id,
      app: row.app,
      isTest: row.isTest,
      type,
      body: formatBody({ id, type, publishedAt }, JSON.stringify(toData(row))),
    }
  })
  await executeIn(client, statements.store, { events, now })
  const values = { now, persons: rows.map(({ person }) => person), ids: rows.map(({ ids }) => ids[0]!) }
  await executeIn(client, statements.postpone, values)
}

function toData({ kind, organisation, person, result, quiz, deadline, changedAt }: Due) {
  if (kind === 'quizReviewed') return { academyId: organisation, quizId: quiz, resultId: result, memberId: person }
  const member = { organisationId: organisation, memberId: person }
  if (kind !== 'dataRequested') return { ...member, changedAt: changedAt.toISOString() }
  return { ...member, requestId: result, deadline: new Date(deadline!).toISOString() }
}

const remove = (client: ClientBase, rows: readonly Due[]) =>
  executeIn(client, statements.remove, {
    persons: rows.flatMap(({ person, ids }) => ids.map(() => person)),
    ids: rows.flatMap(({ ids }) => ids),
  })
