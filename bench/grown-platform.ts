import { TENANTS, VALUE } from './data/rows.ts'
import type { Dimension } from './dimension.ts'

const people: Dimension = {
  name: 'people of the platform',
  sizes: [1_000, 1_000_000],
  operations: ['profile', 'events', 'groups', 'card', 'get', 'put'],
  fill: (size) => `
    CREATE TEMPORARY VIEW one AS SELECT n, 'grown-' || n AS id FROM generate_series(1, ${size}) n;
    INSERT INTO "Person" (id, "firstName", "lastName", email) SELECT id, 'Mia', 'Member', id || '@example.org' FROM one;
    INSERT INTO "Membership" ("organisationId", "personId") SELECT 'club-' || n % 1000, id FROM one;
    INSERT INTO "Consent" (id, "personId", "organisationId", "clientId", scopes)
      SELECT 'of-' || id, id, 'club-' || n % 1000, 'tenant-' || n % 10, '{svc.apps.storage:read}' FROM one`,
}

const clubs: Dimension = {
  name: 'clubs',
  sizes: [10, 10_000],
  operations: ['profile', 'events', 'groups', 'plans', 'get', 'put'],
  fill: (size) => `
    CREATE TEMPORARY VIEW one AS SELECT n, 'club-' || n AS id FROM generate_series(1, ${size}) n;
    INSERT INTO "Organisation" (id, kind, name) SELECT id, 'club', 'Club' FROM one;
    INSERT INTO "Group" (id, "clubId", name) SELECT id || '-' || k, id, 'Group' FROM one, generate_series(1, 5) k;
    INSERT INTO "TrainingPlan" (id, "clubId", name, category, description)
      SELECT id || '-' || k, id, 'Plan', 'Fitness', 'Row.' FROM one, generate_series(1, 5) k;
    INSERT INTO "Event" (id, "clubId", title, start, "end", location, state)
      SELECT id || '-' || k, id, 'Training', now() + k * interval '1 day', now() + k * interval '1 day', 'Boathouse', 'published'
      FROM one, generate_series(1, 10) k`,
}

const entries: Dimension = {
  name: 'entries of all stores',
  sizes: [1_000, 10_000_000],
  operations: ['get', 'put', 'list', 'delete'],
  fill: (size) => `
    INSERT INTO "StorageEntry" ("appId", "clubId", owner, collection, key, value, version, "updatedAt")
      SELECT 'tenant-' || n % ${TENANTS}, 'club-' || n / ${TENANTS} % 1000, '', 'bench', 'key-' || n, '${VALUE}', gen_random_uuid(), now()
      FROM generate_series(1, ${size}) n`,
}

const subscriptions: Dimension = {
  name: 'subscriptions',
  sizes: [100, 100_000],
  operations: ['webhook-get', 'webhook-put', 'webhook-delete'],
  fill: (size) => `
    INSERT INTO "Subscription" (id, "appId", subscriber, url)
      SELECT 'one-' || n, 'tenant-' || n % ${TENANTS}, 'subscriber-' || n, 'https://receiver.example/hook' FROM generate_series(1, ${size}) n`,
}

/** Due tomorrow: the service's worker looks for others among them at each poll, which counts. */
const waiting: Dimension = {
  name: 'deliveries that wait',
  sizes: [1_000, 1_000_000],
  operations: ['get', 'put', 'webhook-get'],
  fill: (size) => `
    CREATE TEMPORARY VIEW one AS SELECT n, 'tenant-' || n % ${TENANTS} AS app FROM generate_series(1, ${size}) n;
    INSERT INTO "PublishedEvent" ("appId", id, type, body, "publishedAt")
      SELECT app, 'waiting-' || n, 'result.created', '{"id": 1}', now() FROM one;
    INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", "createdAt", "nextAttemptAt")
      SELECT 'delivery-' || n, app, 'waiting-' || n, app, now(), now() + interval '1 day' FROM one`,
}

/** A platform of a million people. */
export const grownPlatform: readonly Dimension[] = [people, clubs, entries, subscriptions, waiting].map(
  (dimension) => ({
    ...dimension,
    target: 1.3,
  }),
)
