import type { ClientBase } from 'pg'
import type { Database } from '../../prisma/client.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'
import { comparableEmail, spellingsOf } from '../kernel/email-address.ts'
import { errors } from '../kernel/errors.ts'
import { fillMailboxes, mailboxOf } from '../kernel/mailboxes.ts'
import { announceErasure } from '../webhooks/member-events/announce.ts'
import { removeEvents } from './events.ts'
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

const of = (table: string) => `(SELECT count(*)::float8 FROM "${table}" WHERE "personId" = $1)`

/** Sessions, and pages of a sign-in or a consent that are open. */
const sessions = `FROM "OauthRecord" WHERE model = 'Session' AND payload ->> 'accountId' = $1
  OR model = 'Interaction' AND $1 IN (payload #>> '{session,accountId}', payload #>> '{result,login,accountId}')`

/** Consents of the person, and consents that they gave to sandbox clients as a test member. */
const consents = `SELECT id FROM "Consent" WHERE "personId" = $1
  UNION SELECT consent.id FROM "Client" client JOIN "Consent" consent ON "clientId" = client.id
    JOIN "OauthRecord" grant_ ON model = 'Grant' AND grant_.id = consent.id
    WHERE environment = 'sandbox' AND payload ->> 'accountId' = $1`

const counts = `SELECT
  (SELECT count(*)::float8 FROM "StorageEntry" WHERE "memberId" = $1) AS "storageEntries",
  (SELECT coalesce(sum(octet_length(value)), 0)::float8 FROM "StorageEntry" WHERE "memberId" = $1) AS "storageBytes",
  ${of('Membership')} AS memberships, ${of('GroupMembership')} AS groups,
  ${of('CompetitionResult')} AS "competitionResults", ${of('MemberCard')} AS "memberCards",
  ${of('QuizResult')} AS "quizResults",
  (SELECT count(*)::float8 FROM "Answer" JOIN "QuizResult" ON id = "resultId" WHERE "personId" = $1) AS answers,
  ${of('LessonCompletion')} AS "lessonCompletions", ${of('Consent')} AS consents,
  ${of('LoginIdentity')} AS "signInIdentities", ${of('TeamMember')} AS teams,
  (SELECT count(*)::float8 ${sessions}) AS sessions
  FROM "Person" WHERE id = $1`

/** The events of these changes are not published yet: after the removal of the others, they would be. */
const changes = `DELETE FROM "MemberChange" WHERE "personId" = $1`

/** What an erasure would remove now; throws 404. */
export const erasable = (db: Database, person: string): Promise<Counted> =>
  db.inTransaction((client) => count(client, person))

/**
 * Removes a person and everything about them in one transaction; before it, events that name them, what teams have written about
 * them, and sign-ins of others that name them. Entries that apps share in a club stay, without their name. Throws 404. Nobody is
 * signed in as this person afterwards, and every token of theirs is refused within 5 s. Apps that they allowed access get the event `member.left`. `marks` are those of the
 * person in the request log.
 */
export async function erase(db: Database, person: string, marks: readonly string[]): Promise<Erased> {
  const email = await emailOf(db, person)
  await fillMailboxes(db)
  const address = comparableEmail(email)
  const spellings = address === null ? [] : spellingsOf(address)
  await db.inTransaction((client) => client.query(changes, [person]))
  const events = await removeEvents(db, [person, ...(address === null ? [] : [email, ...spellings])])
  for (const spelling of address === null ? [null] : spellings) {
    await removeMentions(db, { person, address: spelling })
    await removeRecords(db, { person, address: spelling })
  }
  await db.inTransaction((client) =>
    client.query('UPDATE "RefusedRequest" SET member = NULL WHERE member = ANY ($1)', [marks]),
  )
  const counted = await retryingDeadlocks(() => db.inTransaction((client) => remove(client, person)))
  return { ...counted, events }
}

const emailOf = (db: Database, person: string): Promise<string> =>
  db.inTransaction(async (client) => {
    const { rows } = await client.query<{ email: string }>('SELECT email FROM "Person" WHERE id = $1', [person])
    if (!rows[0]) throw errors.personUnknown()
    return rows[0].email
  })

/** Entries per statement: these are removed within the statement timeout of 5 s. */
const BATCH = 10_000

/**
 * In the order of writers and other removals: memberships, usage rows, entries. The locks also keep out what is new. Club by
 * club, as a club's rows are on one node (docs/scaling.md).
 */
async function remove(client: ClientBase, person: string): Promise<Counted> {
  await client.query('SELECT FROM "Person" WHERE id = $1 FOR UPDATE', [person])
  const { rows: memberships } = await client.query<{ club: string }>(
    'SELECT "organisationId" AS club FROM "Membership" WHERE "personId" = $1 ORDER BY "organisationId"',
    [person],
  )
  const clubs = memberships.map(({ club }) => club)
  for (const club of clubs) {
    await client.query('SELECT FROM "Membership" WHERE "organisationId" = $1 AND "personId" = $2 FOR UPDATE', [
      club,
      person,
    ])
  }
  for (const club of clubs) {
    await client.query('SELECT FROM "StorageUsage" WHERE "clubId" = $1 ORDER BY "appId" FOR NO KEY UPDATE', [club])
  }
  const erased = await count(client, person)
  for (const club of clubs) {
    await removeEntries(client, club, person)
    await client.query('SELECT storage_forget_members($1, ARRAY[$2])', [club, person])
  }
  await client.query(changes, [person])
  await announceErasure(client, person)
  // Records issued under the consents are found by them, so these records go first.
  const { rows } = await client.query<{ id: string }>(consents, [person])
  const grants = rows.map(({ id }) => id)
  await client.query('DELETE FROM "OauthRecord" WHERE "grantId" = ANY ($1)', [grants])
  await client.query(`DELETE FROM "OauthRecord" WHERE model = 'Grant' AND id = ANY ($1)`, [grants])
  await client.query('DELETE FROM "Consent" WHERE id = ANY ($1)', [grants])
  await client.query(`DELETE ${sessions}`, [person])
  await client.query(
    `DELETE FROM "LoginCode" USING "Person" person WHERE person.id = $1 AND "LoginCode".email = ${mailboxOf('person')}`,
    [person],
  )
  await client.query(
    `DELETE FROM "TeamInvitation" USING "Person" person WHERE person.id = $1 AND "TeamInvitation".email = ${mailboxOf('person')}`,
    [person],
  )
  await client.query(
    `DELETE FROM "Mail" USING "Person" person WHERE person.id = $1 AND "Mail".email = ${mailboxOf('person')}`,
    [person],
  )
  await client.query('UPDATE "TeamInvitation" SET "invitedBy" = NULL WHERE "invitedBy" = $1', [person])
  await client.query('UPDATE "ClubApproval" SET "decidedBy" = NULL WHERE "decidedBy" = $1', [person])
  await client.query(`SET LOCAL audit.erase = 'on'`)
  await client.query(`UPDATE "AuditEntry" SET "personId" = '' WHERE "personId" = $1`, [person])
  await client.query('DELETE FROM "Person" WHERE id = $1', [person])
  return erased
}

async function removeEntries(client: ClientBase, club: string, person: string): Promise<void> {
  for (let removed = BATCH; removed === BATCH; ) {
    const { rowCount } = await client.query(
      `DELETE FROM "StorageEntry" WHERE "clubId" = $1 AND ctid = ANY (ARRAY(
        SELECT ctid FROM "StorageEntry" WHERE "clubId" = $1 AND "memberId" = $2 LIMIT ${BATCH}))`,
      [club, person],
    )
    removed = rowCount!
  }
}

async function count(client: ClientBase, person: string): Promise<Counted> {
  const { rows } = await client.query<Counted>(counts, [person])
  if (!rows[0]) throw errors.personUnknown()
  return rows[0]
}
