import { PEOPLE } from './data/people.ts'
import type { Dimension } from './dimension.ts'
import { pageRequests } from './routes/pages.ts'

/** Several, as people and teams have limits. */
const TEAMS = ['tenant-0', 'tenant-1', 'tenant-2', 'tenant-3']
const people = PEOPLE.filter(({ team }) => TEAMS.includes(team))

/** Apps, and clients of each, that a team may have beside the bench's. */
const [APPS, CLIENTS] = [9, 20]

/** A team with its refused requests, deliveries and changes, and as many clients as it may have. */
export const grownTeams: Dimension = {
  name: 'requests and deliveries of a team',
  sizes: [1, 100_000],
  operations: [
    ...['portal-team', 'portal-people', 'portal-test-club', 'portal-usage', 'portal-requests', 'portal-audit'],
    ...['portal-app', 'portal-webhook', 'portal-deliveries', 'portal-delivery', 'portal-client'],
  ],
  target: 1.3,
  most: 40,
  connections: 8,
  requests: (_bench, operation) => ({
    name: operation,
    agreement: operation,
    form: 'page',
    masked: [],
    requests: pageRequests(operation, people),
  }),
  fill: (size) => `
    CREATE TEMPORARY VIEW team AS SELECT unnest('{${TEAMS}}'::text[]) AS id;
    CREATE TEMPORARY VIEW grown AS SELECT id AS team, n, now() - n * interval '1 second' AS at
      FROM team, generate_series(1, ${size}) n;
    INSERT INTO "App" (id, name, "teamId", "providerId")
      SELECT id || '-' || n, 'app', id, 'provider' FROM team, generate_series(1, ${Math.min(size, APPS)}) n;
    CREATE TEMPORARY TABLE client AS SELECT id AS team, id || '-' || n || '-' || k AS id, id || '-' || n AS app
      FROM team, generate_series(1, ${Math.min(size, APPS)}) n, generate_series(1, ${Math.min(size, CLIENTS)}) k;
    INSERT INTO "Client" (id, name, "teamId", "appId", environment) SELECT id, 'client', team, app, 'production' FROM client;
    INSERT INTO "ClientUsage" ("teamId", span, at, "clientId", ok, refused, limited)
      SELECT team, 'hour', date_trunc('hour', now()) - n * interval '1 hour', id, 60, 6, 0 FROM client, generate_series(0, 23) n;
    INSERT INTO "RefusedRequest" ("teamId", "clientId", "requestId", at, method, route, status, error, message, ms)
      SELECT team, team || '-web', 'more-' || n, at, 'GET', '/storage/{collection}/{key}', 404, 'keyUnknown', 'Unknown key.', 3
      FROM grown;
    INSERT INTO "AuditEntry" ("teamId", "personId", action, target, after, at)
      SELECT team, NULL, 'client.update', team || '-web', '{"name": "web"}', at FROM grown;
    INSERT INTO "PublishedEvent" ("appId", id, type, body, "publishedAt")
      SELECT team, 'more-' || n, 'result.created', '{"id": 1}', at FROM grown;
    INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", state, attempts, "createdAt", "finishedAt")
      SELECT team || '-more-' || n, team, 'more-' || n, team, 'delivered', 1, at, at FROM grown`,
}
