import { VALUE } from './data/rows.ts'
import type { Dimension } from './dimension.ts'
import { grownPlatform } from './grown-platform.ts'
import { grownTeams } from './grown-teams.ts'
import { buildRequests, byTenants, createRequest } from './load/requests.ts'

const members: Dimension = {
  name: 'members of the club',
  sizes: [10, 1_000, 100_000],
  operations: ['profile', 'events', 'groups', 'plans', 'competitions', 'card', 'get', 'put'],
  fill: (size) => `
    CREATE TEMPORARY VIEW one AS SELECT n, 'other-' || n AS id FROM generate_series(1, ${size}) n;
    INSERT INTO "Person" (id, "firstName", "lastName", email) SELECT id, 'Mia', 'Member', id || '@example.org' FROM one;
    INSERT INTO "Membership" ("organisationId", "personId") SELECT 'club', id FROM one;
    INSERT INTO "GroupMembership" ("groupId", "personId", role) SELECT 'group-' || n % 5, id, 'member' FROM one;
    INSERT INTO "CompetitionResult" (id, "competitionId", "disciplineId", "personId", place, score, timestamp)
      SELECT id, 'regatta', 'single', id, 1, 1, now() FROM one;
    INSERT INTO "MemberCard" (serial, "clubId", "personId", status, name, "memberNumber", departments, "validUntil")
      SELECT id, 'club', id, 'valid', 'Mia Member', n::text, '{}', '2099-12-31' FROM one;
    DROP VIEW one`,
}

const entries: Dimension = {
  name: 'entries of the collection',
  sizes: [1, 1_000, 1_000_000],
  operations: ['get', 'put', 'list'],
  most: 250,
  fill: (size) => `
    INSERT INTO "StorageEntry" ("appId", "clubId", owner, collection, key, value, version, "updatedAt")
      SELECT 'tenant-0', 'club', '', 'growth', 'key-' || n, '${VALUE}', gen_random_uuid(), now()
      FROM generate_series(0, ${size - 1}) n;
    INSERT INTO "StorageCollection" VALUES ('tenant-0', 'club', '', 'growth', ${size});
    UPDATE "StorageUsage" SET bytes = bytes + ${size} * ${Buffer.byteLength(VALUE)}::int8
      WHERE "appId" = 'tenant-0' AND "clubId" = 'club'`,
  requests(bench, operation, size) {
    // Spread over the whole collection; a prime, so that no key repeats before all have been used.
    const key = (i: number) => `key-${(i * 7_919) % size}`
    const whole = '/v1/storage/growth'
    const { token } = bench.tenants[0]!
    const requests = byTenants(bench.tenants, (_, i) => {
      // A page of one entry, as there may be no more.
      if (operation === 'list') return createRequest(token, 'apps', 'GET', `${whole}?limit=1`)
      if (operation === 'get') return createRequest(token, 'apps', 'GET', `${whole}/${key(i)}`)
      return createRequest(token, 'apps', 'PUT', `${whole}/${key(i)}`, `{"value":${VALUE}}`)
    })
    return { ...buildRequests(bench, operation), requests }
  },
}

const events: Dimension = {
  name: 'events of all clubs',
  sizes: [10, 1_000, 100_000],
  operations: ['events'],
  fill: (size) => `
    INSERT INTO "Organisation" (id, kind, name) SELECT 'club-' || n, 'club', 'Club' FROM generate_series(0, 99) n;
    INSERT INTO "Group" (id, "clubId", name) SELECT 'of-club-' || n, 'club-' || n, 'Group' FROM generate_series(0, 99) n;
    INSERT INTO "Event" (id, "clubId", title, start, "end", location, state)
      SELECT 'far-' || n, 'club-' || n % 100, 'Training', at, at + interval '2 hours', 'Boathouse', 'published'
      FROM generate_series(1, ${size}) n, LATERAL (SELECT now() + n % 1000 * interval '2 hours' AS at) time;
    INSERT INTO "EventGroup" ("eventId", "groupId", "clubId")
      SELECT 'far-' || n, 'of-club-' || n % 100, 'club-' || n % 100 FROM generate_series(1, ${size}) n`,
}

/** Additional teams, each with an app, a client and entries. */
const teams: Dimension = {
  name: 'teams',
  sizes: [1, 100, 10_000],
  operations: ['get', 'put', 'list', 'profile'],
  fill: (size) => `
    CREATE TEMPORARY VIEW one AS SELECT 'other-' || n AS id FROM generate_series(1, ${size}) n;
    INSERT INTO "Team" (id, name, level) SELECT id, id, 'developer' FROM one;
    INSERT INTO "App" (id, name, "teamId", "providerId") SELECT id, id, id, 'provider' FROM one;
    INSERT INTO "Client" (id, name, "teamId", "appId", environment) SELECT id, id, id, id, 'production' FROM one;
    INSERT INTO "StorageEntry" ("appId", "clubId", owner, collection, key, value, version, "updatedAt")
      SELECT id, 'club', '', 'bench', 'key-' || n, '1', gen_random_uuid(), now() FROM one, generate_series(0, 9) n;
    INSERT INTO "StorageCollection" SELECT id, 'club', '', 'bench', 10 FROM one;
    INSERT INTO "StorageUsage" SELECT id, 'club', 10 FROM one;
    DROP VIEW one`,
}

export const dimensions: readonly Dimension[] = [members, entries, events, teams, grownTeams, ...grownPlatform]
