import type { ClientBase } from 'pg'
import type { Database } from '../../prisma/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { bool, int, statement, text, texts, timestamp } from '../../prisma/pg/statement.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'
import { comparableEmail, listSpellings } from '../kernel/email-address.ts'
import { errors } from '../kernel/errors.ts'
import { fillMailboxes, soleMailboxSql } from '../kernel/mailboxes.ts'
import { announceErasure } from '../webhooks/member-events/announce.ts'
import { pausePublishing } from '../webhooks/member-events/publish.ts'
import type { Names } from './events.ts'
import { removeEvents, removeNewEvents } from './events.ts'
import { removeMentions } from './mentions.ts'
import { removeRecords } from './records.ts'

/** What an erasure removed, or would remove: numbers of records, and the bytes of the private storage entries. */
export interface Erased {
  storageEntries: number
  storageBytes: number
  memberships: number
  groups: number
  competitionResults: number
  memberCards: number
  quizResults: number
  answers: number
  lessonCompletions: number
  consents: number
  signInIdentities: number
  teams: number
  sessions: number
  /** Published ones that name the person. */
  events: number
}

/** Without the events: finding them means to read all. */
export type Counted = Omit<Erased, 'events'>

/** A publisher's transaction may have begun before the erasure, and nodes' clocks differ. */
const MARGIN = `interval '1 minute'`

/** Entries per statement: these are removed within the statement timeout of 5 s. */
const BATCH = 10_000

const of = (table: string) => `(SELECT count(*)::float8 FROM "${table}" WHERE "personId" = $person)`

/** Sessions, and pages of a sign-in or a consent that are open. */
const sessions = `FROM "OauthRecord" WHERE model = 'Session' AND payload ->> 'accountId' = $person
  OR model = 'Interaction' AND $person IN (payload #>> '{session,accountId}', payload #>> '{result,login,accountId}')`

const byPerson = (name: string, sql: string) => statement(`erase_${name}`, sql, { person: text }, {})
const hasAddress = (table: string) => `person.id = $person AND "${table}".email = ${soleMailboxSql('person')}`
const byGrants = (name: string, sql: string) => statement(`erase_${name}`, sql, { grants: texts }, {})

const statements = {
  counts: statement(
    'erase_counts',
    `SELECT
  (SELECT count(*)::float8 FROM "StorageEntry" WHERE "memberId" = $person) AS "storageEntries",
  (SELECT coalesce(sum(octet_length(value)), 0)::float8 FROM "StorageEntry" WHERE "memberId" = $person) AS "storageBytes",
  ${of('Membership')} AS memberships, ${of('GroupMembership')} AS groups,
  ${of('CompetitionResult')} AS "competitionResults", ${of('MemberCard')} AS "memberCards",
  ${of('QuizResult')} AS "quizResults",
  (SELECT count(*)::float8 FROM "Answer" JOIN "QuizResult" ON id = "resultId" WHERE "personId" = $person) AS answers,
  ${of('LessonCompletion')} AS "lessonCompletions", ${of('Consent')} AS consents,
  ${of('LoginIdentity')} AS "signInIdentities", ${of('TeamMember')} AS teams,
  (SELECT count(*)::float8 ${sessions}) AS sessions
  FROM "Person" WHERE id = $person`,
    { person: text },
    {
      storageEntries: int,
      storageBytes: int,
      memberships: int,
      groups: int,
      competitionResults: int,
      memberCards: int,
      quizResults: int,
      answers: int,
      lessonCompletions: int,
      consents: int,
      signInIdentities: int,
      teams: int,
      sessions: int,
    },
  ),
  email: statement(
    'erase_email',
    `SELECT email, ${soleMailboxSql('person')} IS NULL AS shared, statement_timestamp() - ${MARGIN} AS since
      FROM "Person" person WHERE id = $person`,
    { person: text },
    { email: text, shared: bool, since: timestamp },
  ),
  /** The events of these changes are not published yet: after the removal of the others, they would be. */
  changes: byPerson('changes', 'DELETE FROM "MemberChange" WHERE "personId" = $person'),
  unname: statement(
    'erase_requests',
    `WITH answered AS (UPDATE "AnsweredRequest" SET member = NULL WHERE member = ANY ($marks))
      UPDATE "RefusedRequest" SET member = NULL WHERE member = ANY ($marks)`,
    { marks: texts },
    {},
  ),
  lock: byPerson('lock', 'SELECT FROM "Person" WHERE id = $person FOR UPDATE'),
  clubs: statement(
    'erase_clubs',
    'SELECT "organisationId" AS club FROM "Membership" WHERE "personId" = $person ORDER BY "organisationId"',
    { person: text },
    { club: text },
  ),
  lockMembership: statement(
    'erase_lock_membership',
    'SELECT FROM "Membership" WHERE "organisationId" = $club AND "personId" = $person FOR UPDATE',
    { club: text, person: text },
    {},
  ),
  lockStores: statement(
    'erase_lock_stores',
    'SELECT FROM "StorageUsage" WHERE "clubId" = $club ORDER BY "appId" FOR NO KEY UPDATE',
    { club: text },
    {},
  ),
  entries: statement(
    'erase_entries',
    `WITH gone AS (DELETE FROM "StorageEntry" WHERE "clubId" = $club AND ctid = ANY (ARRAY(
        SELECT ctid FROM "StorageEntry" WHERE "clubId" = $club AND "memberId" = $person LIMIT ${BATCH})) RETURNING 1)
      SELECT count(*) AS removed FROM gone`,
    { club: text, person: text },
    { removed: int },
  ),
  allowAudit: statement('erase_allow_audit', `SELECT set_config('audit.erase', 'on', true) AS set`, {}, { set: text }),
  forget: statement(
    'erase_forget',
    'SELECT FROM storage_forget_members($club, ARRAY[$person])',
    { club: text, person: text },
    {},
  ),
  /** Consents of the person, and consents that they gave to sandbox clients as a test member. */
  consents: statement(
    'erase_consents',
    `SELECT id FROM "Consent" WHERE "personId" = $person
  UNION SELECT consent.id FROM "Client" client JOIN "Consent" consent ON "clientId" = client.id
    JOIN "OauthRecord" grant_ ON model = 'Grant' AND grant_.id = consent.id
    WHERE environment = 'sandbox' AND payload ->> 'accountId' = $person`,
    { person: text },
    { id: text },
  ),
}

/** In this order: records issued under the consents are found by them. */
const removals = {
  grants: [
    byGrants('records', 'DELETE FROM "OauthRecord" WHERE "grantId" = ANY ($grants)'),
    byGrants('grants', `DELETE FROM "OauthRecord" WHERE model = 'Grant' AND id = ANY ($grants)`),
    byGrants('given', 'DELETE FROM "Consent" WHERE id = ANY ($grants)'),
  ],
  person: [
    byPerson('sessions', `DELETE ${sessions}`),
    byPerson('codes', `DELETE FROM "LoginCode" USING "Person" person WHERE ${hasAddress('LoginCode')}`),
    // Their own go with the person.
    byPerson(
      'invited',
      `DELETE FROM "TeamInvitation" USING "Person" person
        WHERE ${hasAddress('TeamInvitation')} AND "TeamInvitation"."personId" IS NULL`,
    ),
    byPerson('mails', `DELETE FROM "Mail" USING "Person" person WHERE ${hasAddress('Mail')}`),
    // Without the name of who invites, an open one would be the operator's.
    byPerson('invitations', 'DELETE FROM "TeamInvitation" WHERE "invitedBy" = $person AND "acceptedAt" IS NULL'),
    byPerson('accepted', 'UPDATE "TeamInvitation" SET "invitedBy" = NULL WHERE "invitedBy" = $person'),
    byPerson('decisions', 'UPDATE "ClubApproval" SET "decidedBy" = NULL WHERE "decidedBy" = $person'),
    byPerson('child_decisions', 'UPDATE "ChildRequest" SET "decidedBy" = NULL WHERE "decidedBy" = $person'),
    byPerson('audit', `UPDATE "AuditEntry" SET "personId" = '' WHERE "personId" = $person`),
    byPerson('person', 'DELETE FROM "Person" WHERE id = $person'),
  ],
}

/** What an erasure would remove now; throws 404. */
export const erasable = (db: Database, person: string): Promise<Counted> =>
  db.inTransaction((client) => count(client, person))

/**
 * Removes a person and everything about them in one transaction; before it, events that name them, what teams have written about
 * them, and sign-ins of others that name them. Entries that apps share in a club stay, without their name. Throws 404. Nobody is
 * signed in as this person afterwards, and every token of theirs is refused within 5 s. Apps that they allowed access get the
 * event `member.left`. An address that somebody else has too is taken for theirs. `marks` are those of the person in the request log.
 */
export async function erase(db: Database, person: string, marks: readonly string[]): Promise<Erased> {
  await fillMailboxes(db)
  const { email, shared, since } = await readEmail(db, person)
  const address = shared ? null : comparableEmail(email)
  const spellings = address === null ? [] : listSpellings(address)
  await db.execute(statements.changes, { person })
  const names = { person, addresses: address === null ? [] : [email, ...spellings] }
  const former = await removeEvents(db, names)
  for (const spelling of address === null ? [null] : spellings) {
    await removeMentions(db, { person, address: spelling })
    await removeRecords(db, { person, address: spelling })
  }
  await db.execute(statements.unname, { marks })
  const named = { names, since, marks }
  const erased = await retryingDeadlocks(() => db.inTransaction((client) => remove(client, person, named)))
  return { ...erased, events: former + erased.events }
}

async function readEmail(db: Database, person: string) {
  const [found] = await db.execute(statements.email, { person })
  if (!found) throw errors.personUnknown()
  return found
}

interface Named {
  names: Names
  since: string
  marks: readonly string[]
}

/**
 * In the order of writers and other removals: memberships, usage rows, entries. The locks also keep out what is new. Club by
 * club, as a club's rows are on one node (docs/scaling.md).
 */
async function remove(client: ClientBase, person: string, named: Named): Promise<Erased> {
  await executeIn(client, statements.lock, { person })
  const clubs = (await executeIn(client, statements.clubs, { person })).map(({ club }) => club)
  for (const club of clubs) await executeIn(client, statements.lockMembership, { club, person })
  for (const club of clubs) await executeIn(client, statements.lockStores, { club })
  const counted = await count(client, person)
  for (const club of clubs) {
    await removeEntries(client, club, person)
    await executeIn(client, statements.forget, { club, person })
  }
  await pausePublishing(client)
  await executeIn(client, statements.changes, { person })
  const events = await removeNewEvents(client, named.names, named.since)
  await announceErasure(client, person)
  const grants = (await executeIn(client, statements.consents, { person })).map(({ id }) => id)
  for (const removal of removals.grants) await executeIn(client, removal, { grants })
  await executeIn(client, statements.allowAudit, {})
  for (const removal of removals.person) await executeIn(client, removal, { person })
  // Requests that were answered meanwhile have it.
  await executeIn(client, statements.unname, { marks: named.marks })
  return { ...counted, events }
}

async function removeEntries(client: ClientBase, club: string, person: string): Promise<void> {
  for (let removed = BATCH; removed === BATCH; ) {
    const [row] = await executeIn(client, statements.entries, { club, person })
    removed = row!.removed
  }
}

async function count(client: ClientBase, person: string): Promise<Counted> {
  const [counted] = await executeIn(client, statements.counts, { person })
  if (!counted) throw errors.personUnknown()
  return counted
}
