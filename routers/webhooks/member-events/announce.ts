import type { ClientBase } from 'pg'
import type { Transaction } from '../../../prisma/client.ts'
import { MemberEvent } from '../../../prisma/generated/enums.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { jsonStrings, oneOf, statement, text, texts } from '../../../prisma/pg/statement.ts'
import { memberEventTypes } from '../event-types.ts'

/**
 * SQL condition: the app in the row `app` is active, and somebody receives its events; those of a test club, for which `isTest` is
 * true, its webhook too.
 */
export const receives = (isTest: string) => `app.state = 'active'
  AND EXISTS (SELECT FROM "Team" WHERE id = app."teamId" AND "endsAt" IS NULL)
  AND (EXISTS (SELECT FROM "EventFeed" WHERE "appId" = app.id)
    OR EXISTS (SELECT FROM "Subscription" WHERE "appId" = app.id AND url IS NOT NULL AND "endedAt" IS NULL
      AND (NOT test OR ${isTest})))`

/** The row `client` has members of test clubs alone. */
const IS_SANDBOX = `client.environment = 'sandbox'`

/** One time for all rows, truncated so that it is never in the future of a worker, which has the same clock. */
const NOW = `date_trunc('milliseconds', statement_timestamp())`

/**
 * Records a change of what a member sees, for the clients that are to hear of it. `members` is SQL with the columns
 * `organisationId` and `personId` of members that are affected, each any number of times; it may read the CTE `touched`.
 */
export type Announce = (event: MemberEvent, change: { touched: string; members: string }) => Promise<void>

const receivers = statement(
  'member_event_receivers',
  `SELECT client.id, to_json(client.scopes) AS scopes FROM "Client" client JOIN "App" app ON app.id = client."appId"
    WHERE client.scopes && $scopes AND client.state = 'active' AND ${receives(IS_SANDBOX)}`,
  { scopes: texts },
  { id: text, scopes: jsonStrings },
)

/**
 * Returns a function that records changes in the caller's transaction; undefined if no app receives any of these events, as for
 * most platforms. Which apps get an event is decided when it is published: this only leaves out members without a consent.
 */
export async function openAnnouncing(
  client: ClientBase,
  events: readonly MemberEvent[],
): Promise<Announce | undefined> {
  const scopes = [...new Set(events)].map((event) => memberEventTypes[event].scope ?? null)
  if (scopes.length === 0) return undefined
  const rows = await executeIn(client, receivers, { scopes })
  if (rows.length === 0) return undefined
  return async (event, { touched, members }) => {
    const scope = memberEventTypes[event].scope!
    const clients = rows.filter((row) => row.scopes.includes(scope)).map(({ id }) => id)
    if (clients.length === 0) return
    await client.query(
      `WITH touched AS MATERIALIZED (${touched})
        INSERT INTO "MemberChange" ("clientId", "organisationId", "personId", kind, at)
        SELECT DISTINCT "clientId", "organisationId", "personId", $1::"MemberEvent", ${NOW}
        FROM (${members}) member JOIN "Consent" USING ("organisationId", "personId")
        WHERE "clientId" = ANY ($2) AND $3 = ANY (scopes) AND "withdrawnAt" IS NULL`,
      [event, clients, scope],
    )
  }
}

const toAllowed = statement(
  'member_event_to_allowed',
  `INSERT INTO "MemberChange" ("clientId", "organisationId", "personId", kind, "resultId", at)
    SELECT DISTINCT client.id, consent."organisationId", consent."personId", $kind::"MemberEvent", $result, ${NOW}
    FROM "Consent" consent JOIN "Client" client ON client.id = consent."clientId" AND client.state = 'active'
      JOIN "App" app ON app.id = client."appId"
    WHERE consent."personId" = $person AND consent."withdrawnAt" IS NULL AND ${receives(IS_SANDBOX)}`,
  { person: text, kind: oneOf(...Object.values(MemberEvent)), result: text },
  {},
)

/**
 * Before a person's data is erased, in the same transaction: records that they leave, for each app that they allow access. If
 * they left before, the app gets a second event: the erasure may have removed the first one undelivered.
 */
export async function announceErasure(client: ClientBase, person: string): Promise<void> {
  await executeIn(client, toAllowed, { person, kind: 'left', result: '' })
}

/** Records that a member asks for a copy of their data, for each app that they allow access. */
export async function announceDataRequest(tx: Transaction, person: string, request: string): Promise<void> {
  await executeIn(tx, toAllowed, { person, kind: 'dataRequested', result: request })
}
