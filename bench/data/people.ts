import { createHash } from 'node:crypto'
import { memberScopes } from '../../routers/kernel/scopes.ts'
import { TENANTS } from './rows.ts'

/** People of each team, who are members of the club `town` as well. A person may call the portal 600 times a minute. */
const PER_TEAM = 10
export const PEOPLE = Array.from({ length: TENANTS * PER_TEAM }, (_, n) => ({
  id: `person-${n}`,
  team: `tenant-${Math.floor(n / PER_TEAM)}`,
  session: `session-${n}`,
}))

/** Rows of each list of a team: more than a page shows. */
const LISTED = 40

const scopes = `'{${[...memberScopes, 'openid', 'profile', 'email']}}'`

/** The people, each with a session and with consents to clients of three teams. */
const OF_PEOPLE = `
  INSERT INTO "Organisation" (id, kind, name) VALUES ('town', 'club', 'Town');
  CREATE TEMPORARY TABLE person AS SELECT *, number - 1 AS n FROM unnest(
    '{${PEOPLE.map(({ id }) => id)}}'::text[], '{${PEOPLE.map(({ team }) => team)}}'::text[],
    '{${PEOPLE.map(({ session }) => createHash('sha256').update(session).digest('base64url'))}}'::text[])
    WITH ORDINALITY one (id, team, session, number);
  INSERT INTO "Person" (id, "firstName", "lastName", email)
    SELECT id, 'Mia', 'Member ' || n, id || '@example.org' FROM person;
  INSERT INTO "Membership" ("organisationId", "personId") SELECT 'town', id FROM person;
  INSERT INTO "TeamMember" ("teamId", "personId", role) SELECT team, id, 'owner' FROM person;
  INSERT INTO "OauthRecord" (model, id, uid, payload, "expiresAt")
    SELECT 'Session', session, 'uid-' || n, jsonb_build_object('kind', 'Session', 'uid', 'uid-' || n, 'accountId', id,
      'loginTs', extract(epoch FROM now())::int, 'iat', extract(epoch FROM now())::int,
      'exp', extract(epoch FROM now())::int + 36000), now() + interval '10 hours' FROM person;
  INSERT INTO "Consent" (id, "personId", "organisationId", "clientId", scopes)
    SELECT 'town-' || n || '-' || k, id, 'town', 'tenant-' || (n / ${PER_TEAM} + k) % ${TENANTS} || '-web', ${scopes}
    FROM person, generate_series(0, 2) k`

/** A production and a sandbox client of each team, and a page and more of each list. */
const OF_TEAMS = `
  CREATE TEMPORARY TABLE team AS SELECT id FROM "Team";
  CREATE TEMPORARY TABLE listed AS SELECT team.id AS team, n, now() - n * interval '1 minute' AS at
    FROM team, generate_series(0, ${LISTED - 1}) n;
  UPDATE "App" SET "webhookUrl" = 'https://hooks.example/in';
  INSERT INTO "Client" (id, name, "teamId", "appId", environment, "testOnly", "redirectUris", scopes)
    SELECT id || '-' || name, name, id, id, environment::"Environment", environment = 'sandbox',
      '{https://app.example/callback}', ${scopes} FROM team, (VALUES ('web', 'production'), ('sandbox', 'sandbox')) of (name, environment);
  INSERT INTO "ClientUsage" ("teamId", span, at, "clientId", ok, refused, limited)
    SELECT id, 'hour', date_trunc('hour', now()) - n * interval '1 hour', id || '-web', 60, 6, 0
    FROM team, generate_series(0, 23) n;
  INSERT INTO "ClientUsage" ("teamId", span, at, "clientId", ok, refused, limited)
    SELECT id, 'minute', date_trunc('minute', now()) - n * interval '10 minutes', id || '-web', 10, 1, 0
    FROM team, generate_series(0, 143) n;
  INSERT INTO "RefusedRequest" ("teamId", "clientId", "requestId", at, method, route, status, error, message, ms)
    SELECT team, team || '-web', 'request-' || n, at, 'GET', '/storage/{collection}/{key}', 404, 'keyUnknown', 'Unknown key.', 3
    FROM listed;
  INSERT INTO "AuditEntry" ("teamId", "personId", action, target, after, at)
    SELECT team, (SELECT "personId" FROM "TeamMember" WHERE "teamId" = team LIMIT 1), 'client.update', team || '-web',
      '{"name": "web", "redirectUris": ["https://app.example/callback"]}', at FROM listed;
  INSERT INTO "Subscription" (id, "appId", subscriber, url) SELECT id, id, 'club', 'https://hooks.example/in' FROM team;
  INSERT INTO "PublishedEvent" ("appId", id, type, body, "publishedAt")
    SELECT team, 'event-' || n, 'result.created', '{"id": 1}', at FROM listed;
  INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", state, attempts, "lastStatus", "lastError", "lastAttemptAt",
      "createdAt", "finishedAt")
    SELECT team || '-delivery-' || n, team, 'event-' || n, team, 'failed', 8, 503, 'HTTP 503', at, at, at FROM listed;
  INSERT INTO "DeliveryAttempt" ("deliveryId", number, at, "durationMs", status, error, answer)
    SELECT team || '-delivery-' || n, number, at, 20, 503, 'HTTP 503', 'Not available.' FROM listed, generate_series(1, 8) number`

/** Each team's test club, with an app's entries. */
const TEST_CLUBS = `
  INSERT INTO "Organisation" (id, kind, name, "testTeamId")
    SELECT kind || '-of-' || id, kind::"OrganisationKind", 'Test ' || kind, id
    FROM team, unnest('{club,academy,provider}'::text[]) kind;
  INSERT INTO "Person" (id, "firstName", "lastName", email)
    SELECT 'tester-' || n || '-' || id, 'Tina', 'Test', '' FROM team, generate_series(0, 5) n;
  INSERT INTO "Membership" ("organisationId", "personId")
    SELECT kind || '-of-' || id, 'tester-' || n || '-' || id
    FROM team, generate_series(0, 5) n, unnest('{club,academy}'::text[]) kind;
  INSERT INTO "Quiz" (id, "academyId", title, threshold, state)
    SELECT 'quiz-' || id, 'academy-of-' || id, 'Quiz', 60, 'released' FROM team;
  INSERT INTO "Question" (id, "quizId", position, type, text, options, solution)
    SELECT 'q' || n, 'quiz-' || id, n, 'single', 'Which colour?', '{Red,Green,Blue}', '{Red}' FROM team, generate_series(0, 3) n;
  SELECT put.outcome FROM listed,
    storage_write(team, 'club-of-' || team, '', 'notes', 'key-' || n, '{"n": 1}', gen_random_uuid(), now(), 10485760,
      NULL, NULL, NULL, false) put`

export const PEOPLE_ROWS = [OF_TEAMS, OF_PEOPLE, TEST_CLUBS].join(';')
