import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Database } from '../../prisma/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { instant, int, json, nullable, statement, text } from '../../prisma/pg/statement.ts'
import { readAccess } from '../kernel/access.ts'
import { stillAllows } from '../kernel/authorize.ts'
import { errors } from '../kernel/errors.ts'
import { clubMember } from '../kernel/policies.ts'

export const CALENDAR_SCOPE = 'svc.me.events:read'
/** Addresses of a consent, and those that a member has created for a club. Another one removes the oldest. */
const MAX_FEEDS = 10
/** 128 bits. */
const SECRET_BYTES = 16
const MAX_NAME = 300
const SECRET = /^[\w-]{22}$/

interface Subscriber {
  member: string
  club: string
  /** The consent of the app that creates it; null where the member does. */
  grant: string | null
}

export interface Feed extends Omit<Subscriber, 'grant'> {
  name: string
  timeZone: string
}

/** Below the address of sign-in. */
export const toAddress = (base: string, secret: string) => `${base}/calendar/${secret}.ics`

/** The secret is random, so a slow hash would protect nothing more. */
const hashSecret = (secret: string) => createHash('sha256').update(secret).digest('base64url')

const consent = json<{ grant: string; client: string; scopes: string[] }>()

const statements = {
  /** Two at once would each leave the other's address out of the count. */
  lock: statement(
    'calendar_feed_lock',
    `SELECT 1 AS locked FROM "Membership" WHERE "organisationId" = $club AND "personId" = $member FOR NO KEY UPDATE`,
    { club: text, member: text },
    { locked: int },
  ),
  create: statement(
    'calendar_feed_create',
    `WITH removed AS (DELETE FROM "CalendarFeed" WHERE id IN (SELECT id FROM "CalendarFeed"
        WHERE "personId" = $member AND "clubId" = $club AND "consentId" IS NOT DISTINCT FROM $grant
        ORDER BY "createdAt" DESC, id OFFSET ${MAX_FEEDS - 1}))
      INSERT INTO "CalendarFeed" (id, hash, "personId", "clubId", "consentId", "createdAt")
      VALUES ($id, $hash, $member, $club, $grant, $now)`,
    { id: text, hash: text, member: text, club: text, grant: nullable(text), now: instant },
    {},
  ),
  find: statement(
    'calendar_feed_find',
    `SELECT feed."personId" AS member, "clubId" AS club, left(name, ${MAX_NAME}) AS name, "timeZone",
        (SELECT json_build_object('grant', id, 'client', "clientId", 'scopes', scopes) FROM "Consent" WHERE id = "consentId") AS consent
      FROM "CalendarFeed" feed JOIN "Organisation" club ON club.id = "clubId" JOIN "Membership" own
        ON own."organisationId" = "clubId" AND own."personId" = feed."personId" AND ("leftAt" IS NULL OR "leftAt" > $now)
      WHERE hash = $hash`,
    { hash: text, now: instant },
    { member: text, club: text, name: text, timeZone: text, consent: nullable(consent) },
  ),
}

/** Returns the secret of a new address. Throws 404 for who is no member. */
export async function createFeed(db: Database, { member, club, grant }: Subscriber, now: number): Promise<string> {
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  await db.inTransaction(async (client) => {
    const [found] = await executeIn(client, statements.lock, { member, club })
    if (!found) throw errors.memberUnknown('club')
    await executeIn(client, statements.create, { id: randomUUID(), hash: hashSecret(secret), member, club, grant, now })
  })
  return secret
}

/** Undefined for a secret that is malformed or unknown, and when its member or its app has no access any more. */
export async function findFeed(db: Database, secret: string, now: number): Promise<Feed | undefined> {
  if (!SECRET.test(secret)) return undefined
  const [feed] = await db.execute(statements.find, { hash: hashSecret(secret), now })
  if (!feed?.consent) return feed
  const { member, club: organisation, consent } = feed
  const principal = { ...consent, member, organisation, scopes: new Set(consent.scopes), ownToken: true } as const
  const access = await readAccess(db, principal, now)
  const allows = stillAllows({ scope: CALENDAR_SCOPE, policy: clubMember })
  return allows(principal, access ?? undefined) ? feed : undefined
}
