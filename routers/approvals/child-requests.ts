import type { Database, Transaction } from '../../prisma/client.ts'
import { ClubApprovalState } from '../../prisma/generated/enums.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import {
  bool,
  instant,
  int,
  json,
  jsonStrings,
  listSql,
  nullable,
  oneOf,
  statement,
  text,
  texts,
} from '../../prisma/pg/statement.ts'
import { CONSENT_MS } from '../kernel/access.ts'
import type { ConsentAges } from '../kernel/consent-ages.ts'
import { findBirthdays, IS_BELOW_AGE, IS_IN_FORCE } from '../kernel/consent-ages.ts'
import { organisationLabel, personLabel } from '../kernel/labels.ts'
import type { ClubApp } from './approvals.ts'
import type { Asker } from './mails.ts'
import { queueRequest } from './mails.ts'

/** An app for a child; `club` may be another organisation. */
export interface ChildApp extends ClubApp {
  child: string
}

export const birthdays = json<ReturnType<typeof findBirthdays>>()
const state = oneOf(...Object.values(ClubApprovalState))
const own = { child: text, club: text, app: text }
const THIS_ONE = `"childId" = $child AND "organisationId" = $club AND "appId" = $app`
export const HAS_GUARDIAN = `EXISTS (SELECT FROM "Guardian" WHERE "childId" = child.id AND ${IS_IN_FORCE})`

/** The consents in force of the persons. */
const selectConsents = (persons: string) => `"Consent" consent JOIN "Client" client ON client.id = "clientId"
      WHERE "personId" ${persons} AND "withdrawnAt" IS NULL AND "createdAt" > $consentedAfter::timestamptz`

/** @param sql The columns `childId`, `organisationId`, `appId`. */
const declareList = (name: string, sql: string) =>
  statement(
    name,
    `WITH listed AS (${sql})
    SELECT child.id AS child, ${personLabel('child')} AS "childName", extract(year FROM child.birthday)::text AS year,
      organisation.id AS club,
      ${organisationLabel('organisation')} AS "clubName", app.id AS app, request.state, reason, "requestedAt", "decidedAt",
      coalesce(request.version, 0) AS version, ${listSql('coalesce(request.scopes, used.scopes)')} AS scopes,
      used.scopes IS NOT NULL AS "isUsed"
    FROM listed JOIN "Person" child ON child.id = listed."childId" JOIN "App" app ON app.id = listed."appId"
      JOIN "Organisation" organisation ON organisation.id = listed."organisationId"
      JOIN "Membership" membership ON membership."personId" = child.id AND membership."organisationId" = organisation.id
        AND ("leftAt" IS NULL OR "leftAt" > $at::timestamptz)
      LEFT JOIN "ChildRequest" request ON request."childId" = child.id AND request."organisationId" = organisation.id
        AND request."appId" = app.id
      CROSS JOIN LATERAL (SELECT array_agg(scope) AS scopes FROM (SELECT DISTINCT unnest(consent.scopes) AS scope
        FROM ${selectConsents('= child.id')} AND "organisationId" = organisation.id AND "appId" = app.id) given) used
    WHERE ${IS_BELOW_AGE} AND ($child::text IS NULL OR child.id = $child AND app.id = $app::text)
      AND ($club::text IS NULL OR organisation.id = $club)
    ORDER BY CASE WHEN request.state = 'requested' THEN 0 WHEN used.scopes IS NOT NULL THEN 1 ELSE 2 END, app.name, app.id,
      child.id, organisation.id LIMIT $limit OFFSET $offset`,
    {
      person: text,
      child: nullable(text),
      club: nullable(text),
      app: nullable(text),
      at: instant,
      consentedAfter: instant,
      birthdays,
      limit: int,
      offset: int,
    },
    {
      child: text,
      childName: text,
      /** The year of birth. */
      year: nullable(text),
      club: text,
      clubName: text,
      app: text,
      /** Null for an app that the child uses, and about which nobody has decided. */
      state: nullable(state),
      reason: nullable(text),
      requestedAt: nullable(instant),
      decidedAt: nullable(instant),
      version: int,
      scopes: jsonStrings,
      isUsed: bool,
    },
  )

const statements = {
  isGuardian: statement(
    'child_is_guardian',
    `SELECT "childId" FROM "Guardian" WHERE "guardianId" = $person AND ${IS_IN_FORCE} LIMIT 1`,
    { person: text, at: instant },
    { childId: text },
  ),
  states: statement(
    'child_states',
    `SELECT organisation.id AS club, ${HAS_GUARDIAN} AS "hasGuardian", state, reason, ${listSql('scopes')} AS scopes,
        ${listSql('covered')} AS covered
      FROM "Person" child CROSS JOIN "Organisation" organisation LEFT JOIN "ChildRequest" request
        ON "childId" = child.id AND "organisationId" = organisation.id AND "appId" = $app
      WHERE child.id = $child AND organisation.id = ANY ($clubs) AND ${IS_BELOW_AGE}`,
    { child: text, clubs: texts, app: nullable(text), at: instant, birthdays },
    {
      club: text,
      hasGuardian: bool,
      state: nullable(state),
      reason: nullable(text),
      scopes: jsonStrings,
      covered: jsonStrings,
    },
  ),
  hold: statement(
    'child_hold',
    `SELECT id FROM "ChildRequest" WHERE ${THIS_ONE} AND covered @> $scopes FOR SHARE`,
    { ...own, scopes: texts },
    { id: text },
  ),
  /** Beyond the scopes that were asked for or approved, a child may ask again. */
  request: statement(
    'child_request',
    `INSERT INTO "ChildRequest" AS former (id, "childId", "organisationId", "appId", state, scopes, "requestedAt")
      VALUES (gen_random_uuid(), $child, $club, $app, 'requested', $scopes, $at)
      ON CONFLICT ("childId", "organisationId", "appId") DO UPDATE SET state = 'requested', "requestedAt" = $at,
        scopes = ARRAY(SELECT DISTINCT unnest(former.scopes || EXCLUDED.scopes)), "decidedAt" = NULL, "decidedBy" = NULL,
        version = former.version + 1
      WHERE former.state IN ('requested', 'approved') AND NOT former.scopes @> EXCLUDED.scopes
      RETURNING id`,
    { ...own, scopes: texts, at: instant },
    { id: text },
  ),
  guardianApps: declareList(
    'child_apps_of_guardian',
    `WITH children AS (SELECT "childId" AS id FROM "Guardian" WHERE "guardianId" = $person AND ${IS_IN_FORCE})
      SELECT "childId", "organisationId", "appId" FROM "ChildRequest" WHERE "childId" IN (SELECT id FROM children)
      UNION SELECT "personId", "organisationId", "appId" FROM ${selectConsents('IN (SELECT id FROM children)')}`,
  ),
  administratorApps: declareList(
    'child_apps_of_administrator',
    `SELECT "childId", "organisationId", "appId" FROM "ChildRequest" request JOIN "Person" child ON child.id = "childId"
      WHERE "organisationId" = $club AND child.id <> $person AND NOT ${HAS_GUARDIAN}`,
  ),
}

export const isGuardian = async (db: Database, person: string, now: number) =>
  (await db.execute(statements.isGuardian, { person, at: now })).length > 0

/** The organisations in which the member is below the age, with what was asked and decided about the app. */
export async function findChildStates(
  db: Database,
  {
    child,
    clubs,
    app,
    ages,
    now,
  }: { child: string; clubs: string[]; app: string | null; ages: ConsentAges; now: number },
) {
  const rows = await db.execute(statements.states, { child, clubs, app, at: now, birthdays: findBirthdays(ages, now) })
  return new Map(rows.map((row) => [row.club, row]))
}

/** Whether the child may allow the app these scopes, which then cannot change before the transaction ends. */
export async function holdChildApproval(tx: Transaction, { child, club, app }: ChildApp, scopes: readonly string[]) {
  return (await executeIn(tx, statements.hold, { child, club, app, scopes })).length > 0
}

/** Asks those who decide for the child, once for these scopes. Each gets a mail. */
export async function requestForChild(
  db: Database,
  of: ChildApp,
  scopes: readonly string[],
  now: number,
  asker: Asker,
) {
  await db.$transaction(async (tx) => {
    const { child, club, app } = of
    const [asked] = await executeIn(tx, statements.request, { child, club, app, scopes, at: now })
    if (asked) await queueRequest(tx, { request: asked.id, club, asker, at: now }, true)
  })
}

export interface Listed {
  /** Who decides: a guardian, or an administrator of `club`. */
  person: string
  club: string | null
  ages: ConsentAges
  now: number
  /** Alone. */
  one?: ChildApp | undefined
}

/** The apps of a guardian's children, or those that children without a guardian have asked for in a club: open requests first. */
export const appsOfChildren = (
  db: Database,
  { club, ages, now, one, ...of }: Listed & { limit: number; offset: number },
) =>
  db.execute(club === null ? statements.guardianApps : statements.administratorApps, {
    ...of,
    child: one?.child ?? null,
    club: one?.club ?? club,
    app: one?.app ?? null,
    at: now,
    consentedAfter: now - CONSENT_MS,
    birthdays: findBirthdays(ages, now),
  })
