import { createHash, randomBytes } from 'node:crypto'
import type { Database } from '../../../prisma/client.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { instant, int, statement, text } from '../../../prisma/pg/statement.ts'
import { holdApproval } from '../../../routers/approvals/approvals.ts'
import { CONSENT_MS } from '../../../routers/kernel/access.ts'
import type { ConsentScope } from '../../../routers/kernel/identity-scopes.ts'
import { unixMs } from '../../../routers/kernel/time.ts'
import type { AppView } from '../../browser/pages/views.ts'
import { findAskingApp } from './app-views.ts'
import { isFor } from './authorize-scopes.ts'
import { choicesFor } from './consent-choices.ts'
import { endOldest } from './oldest.ts'

/** A hash of what the consent page shows of an app: its names and homepage, and each scope with its purpose. */
export function hashShown({ name, team, homepage, purposes = {} }: AppView, scopes: readonly ConsentScope[]): string {
  const asked = scopes.toSorted().map((scope) => [scope, Object.hasOwn(purposes, scope) ? purposes[scope] : null])
  return createHash('sha256')
    .update(JSON.stringify([name, team, homepage ?? null, asked]))
    .digest('base64url')
}

/** The row lock makes the end of the consent wait for the new row, which ends with it (consent_end_skipped). */
const skip = statement(
  'consent_skip',
  `INSERT INTO "Consent" (id, "personId", "organisationId", "clientId", scopes, "createdAt", basis)
    SELECT $id, "personId", "organisationId", "clientId", consent.scopes, "createdAt", consent.id
    FROM "Consent" consent JOIN "Client" client ON client.id = "clientId"
    WHERE "personId" = $person AND "clientId" = $client AND "organisationId" = $organisation AND basis IS NULL
      AND shown = $shown AND "withdrawnAt" IS NULL AND "createdAt" > $consentedAfter::timestamptz
      AND consent.scopes @> string_to_array($scopes, ' ') AND consent.scopes <@ string_to_array($scopes, ' ')
      AND client.environment = 'production' AND client.state = 'active' AND NOT client."testOnly"
    ORDER BY "createdAt" DESC, consent.id LIMIT 1 FOR SHARE OF consent
    RETURNING ${unixMs('"createdAt"')} AS "createdAt"`,
  { id: text, person: text, client: text, organisation: text, shown: text, scopes: text, consentedAfter: instant },
  { createdAt: int },
)

interface Asked {
  person: string
  client: string
  scopes: readonly ConsentScope[]
  /** As the app names it. */
  organisation: unknown
  clubApproval: boolean
  now: number
}

/**
 * Stores a consent of its own for a sign-in about which the page has nothing new to ask: the member's only fitting organisation,
 * the scopes, their purposes, and the app's names and homepage are those of a consent in force. It ends with that one. Undefined
 * where the page has to ask.
 */
export async function skipConsent(
  db: Database,
  { person, client, scopes, organisation, clubApproval, now }: Asked,
): Promise<{ id: string; scopes: ConsentScope[]; endsAt: number } | undefined> {
  const [app, choices] = await Promise.all([
    findAskingApp(db, client),
    // A child's consent in force is enough: the end of an approval ends it.
    choicesFor(db, { person, client, scopes, clubApproval, consentAges: null, now }),
  ])
  const [choice, ...others] = choices?.open ?? []
  if (!app || !choice || others.length > 0 || choices!.closed.length > 0) return undefined
  if (organisation !== undefined && organisation !== choice.id) return undefined
  const fitting = scopes.filter(isFor(choice.kind))
  const id = randomBytes(32).toString('base64url')
  const values = {
    id,
    person,
    client,
    organisation: choice.organisation,
    shown: hashShown(app, scopes),
    scopes: fitting.join(' '),
    consentedAfter: now - CONSENT_MS,
  }
  const [stored] = await db.$transaction(async (tx) => {
    if (choice.club && !(await holdApproval(tx, choice.club))) return []
    const stored = await executeIn(tx, skip, values)
    if (stored.length > 0) await endOldest(tx, values, now)
    return stored
  })
  return stored && { id, scopes: fitting, endsAt: stored.createdAt + CONSENT_MS }
}
