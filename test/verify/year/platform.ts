import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { memberScopes } from '../../../routers/kernel/scopes.ts'
import { redirectUri } from '../../oauth/auth-world.ts'
import { query } from '../../support/databases.ts'
import { scaleSizes, writePlatformFiles } from '../platform-files.ts'

export const CLUBS = 100
export const APPS = 200
export const MEMBERS = 100_000
/** Apps that take deliveries. */
export const RECEIVERS = 60
/**
 * The first of them, whose receivers never take any: one answers 500, the other 410. No member has allowed them, as 500 slows a
 * worker down to an attempt a minute, and the days here have but twenty minutes.
 */
export const FAILING = 2
/** Each with some of the apps. */
const TEAMS = 40
/** Members from this one on have allowed an app before the first day. */
export const FIRST_CONSENTED = 80_000

/** Members and clubs; of the rest, what the days do not add to is less than it may be. */
const sizes = { ...scaleSizes(1), groups: 2_000, groupMembers: 60_000, events: 1, results: 20_000 }

/** The files of the first import: without events, which each night adds. */
export async function writeFirstFiles(directory: string) {
  const first = join(directory, 'first')
  await writePlatformFiles(first, sizes)
  await rm(join(first, 'events.ndjson'))
}

/** Teams with their apps and clients, and what they have stored and been allowed; `receiver` is the address of deliveries. */
export async function addApps(url: string, receiver: string) {
  await query(
    url,
    `INSERT INTO "Organisation" (id, kind, name) VALUES ('provider', 'provider', 'Provider');
    INSERT INTO "Team" (id, name, level) SELECT 'team-' || n, 'Team ' || n, 'developer' FROM generate_series(0, ${TEAMS - 1}) n;
    INSERT INTO "TeamMember" ("teamId", "personId", role)
      SELECT 'team-' || n, 'person-' || ${MEMBERS} - 1 - n, 'owner' FROM generate_series(0, ${TEAMS - 1}) n;
    INSERT INTO "App" (id, name, "teamId", "providerId")
      SELECT 'app-' || n, 'App ' || n, 'team-' || n % ${TEAMS}, 'provider' FROM generate_series(0, ${APPS - 1}) n;
    INSERT INTO "Client" (id, name, "teamId", "appId", environment, "redirectUris", scopes)
      SELECT 'client-' || n, 'App ' || n, 'team-' || n % ${TEAMS}, 'app-' || n, 'production', '{${redirectUri}}', '{${memberScopes.join()}}'
      FROM generate_series(0, ${APPS - 1}) n;
    INSERT INTO "Client" (id, name, environment) VALUES ('platform', 'Platform', 'production');
    INSERT INTO "Subscription" (id, "appId", subscriber, url)
      SELECT 'subscription-' || n, 'app-' || n, 'subscriber', '${receiver}/' || n FROM generate_series(0, ${RECEIVERS - 1}) n;
    INSERT INTO "Consent" (id, "personId", "organisationId", "clientId", scopes)
      SELECT 'consent-' || n, 'person-' || n, 'club-' || n % ${CLUBS}, 'client-' || n % ${APPS}, '{${memberScopes.join()}}'
      FROM generate_series(${FIRST_CONSENTED}, ${MEMBERS - 1}) n WHERE n % ${APPS} >= ${FAILING};
    INSERT INTO "StorageEntry" ("appId", "clubId", owner, collection, key, value, version, "updatedAt")
      SELECT 'app-' || n % ${APPS}, 'club-' || n / ${APPS} % ${CLUBS}, '', 'kept', 'key-' || n, '{"n":1}', gen_random_uuid(), now()
      FROM generate_series(1, 100000) n`,
  )
  // As if they had been written longer ago than changes are kept: else all of them would go in one night.
  await query(url, 'UPDATE "StorageUsage" SET thinned = changes, horizon = changes; DELETE FROM "StorageChange"')
  // What one statement has written at once is not how tables grow: indexes are two thirds empty.
  await query(url, 'VACUUM (FULL, ANALYZE)')
}
