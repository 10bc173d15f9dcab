import type { Transaction } from '../../../prisma/client.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { instant, statement, text } from '../../../prisma/pg/statement.ts'
import { CONSENT_MS } from '../../../routers/kernel/access.ts'
import { endGrantsIn } from '../../../routers/kernel/withdraw.ts'

/** Consents in force of a member to a client in an organisation: Google keeps as many refresh tokens of an account and client. */
const MAX_CONSENTS = 100
/** Ended at once, within the statement timeout of 5 s: more are from before there was a limit. */
const BATCH = 5_000

/**
 * By the sign-in: a skipped consent has the time of the one that covers it. That one counts as the newest, as the others end with
 * it; so does one whose grant is not stored yet. Skips rows that another sign-in ends.
 */
const oldest = statement(
  'consents_oldest',
  `SELECT id FROM "Consent" WHERE id = ANY (ARRAY(
      SELECT id FROM "Consent" consent
      WHERE "personId" = $person AND "clientId" = $client AND "organisationId" = $organisation AND id <> $id
        AND "withdrawnAt" IS NULL AND "createdAt" > $consentedAfter::timestamptz
      ORDER BY shown IS NULL, (SELECT (payload ->> 'iat')::int8 FROM "OauthRecord" own
          WHERE model = 'Grant' AND own.id = consent.id) DESC NULLS FIRST, "createdAt" DESC, id
      OFFSET ${MAX_CONSENTS - 1} LIMIT ${BATCH})) FOR NO KEY UPDATE SKIP LOCKED`,
  { id: text, person: text, client: text, organisation: text, consentedAfter: instant },
  { id: text },
)

interface Given {
  id: string
  person: string
  client: string
  organisation: string
}

/** Ends the oldest consents of the member to the client in the organisation beyond the limit, in the transaction of a new one. */
export async function endOldest(tx: Transaction, given: Given, now: number): Promise<void> {
  const ended = await executeIn(tx, oldest, { ...given, consentedAfter: now - CONSENT_MS })
  if (ended.length === 0) return
  await endGrantsIn(
    tx,
    ended.map(({ id }) => id),
    now,
  )
}
