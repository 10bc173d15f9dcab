import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { ask } from '../support/ask.ts'
import { filledDatabase } from './filled-database.ts'
import { misused, run, succeeded } from './run.ts'

const HOUR = 3_600_000
const ago = (ms: number) => `'${new Date(Date.now() - ms).toISOString()}'`
const DAYS = 24 * HOUR

describe('the clean command', () => {
  const filled = filledDatabase()
  const settings = () => ({ ...filled, SECRETS_KEY: randomBytes(32).toString('base64') })
  const counted = (counts: Record<string, number>) =>
    succeeded(
      [
        'idempotency-records',
        'oauth-records',
        'login-codes',
        'events',
        'member-changes',
        'subscriptions',
        'former-secrets',
        'consents',
        'consents-of-refused',
        'refused-requests',
        'answered-requests',
        'failed-sign-ins',
        'usage',
        'team-invitations',
        'team-requests',
        'data-requests',
        'old-mails',
        'webhook-alarms',
        'secret-alarms',
        'client-secrets',
        'audit-entries',
        'storage-changes',
        'storage-requests',
        'unused-hosts',
        'ended',
        'test-events',
        'signing-keys',
      ]
        .map((name) => `${name.padEnd(19)}  ${counts[name] ?? 0}\n`)
        .join(''),
    )

  it('removes what has expired, by the settings, prints the rows of each kind, and leaves the rest', async () => {
    const env = settings()
    await ask(
      env.DATABASE_URL,
      `INSERT INTO "IdempotencyRecord" SELECT 'trainer-app', 'anna', 'academy', 'choice-quiz', n::text, '', '{}', ${ago(25 * HOUR)}
         FROM generate_series(1, 3) n;
       INSERT INTO "StorageRequest" SELECT 'trainer-app', 'riverside', 'anna', 'trainer-app', n::text, 'PUT', sha256(''), '{stored}',
         '{NULL}', 0, n, now() - n * interval '1 hour' FROM generate_series(22, 25) n;
       INSERT INTO "OauthRecord" (model, id, payload, "expiresAt") VALUES ('Session', 'old', '{}', ${ago(1)}), ('Session', 'endless', '{}', NULL);
       INSERT INTO "LoginCode" VALUES ('i', 'a@example.org', '', 'b', false, 0, ${ago(2 * HOUR)}, ${ago(2 * HOUR)});
       INSERT INTO "PublishedEvent" VALUES ('trainer-app', 'old', 't', '{}', ${ago(11 * DAYS)}), ('trainer-app', 'young', 't', '{}', ${ago(9 * DAYS)});
       INSERT INTO "MemberChange" ("clientId", "organisationId", "personId", kind, at)
         SELECT 'trainer-app', 'riverside', 'anna', 'left', now() - n * interval '1 day' FROM generate_series(-1, 11, 6) n;
       INSERT INTO "Subscription" VALUES ('s', 'trainer-app', 'x', NULL, NULL, ${ago(40 * DAYS)}, ${ago(11 * DAYS)});
       UPDATE "App" SET "formerSecret" = 'f', "formerUntil" = ${ago(1)} WHERE id = 'trainer-app';
       INSERT INTO "Consent" SELECT n::text, 'anna', 'riverside', 'trainer-app', '{}', ${ago(10 * DAYS)}, now() - n * interval '1 day'
         FROM generate_series(1, 4) n;
       INSERT INTO "RefusedRequest" ("teamId", "clientId", "requestId", at, method, status, error, ms)
         SELECT 'builders', 'trainer-app', 'r', now() - n * interval '1 day', 'GET', 404, 'keyUnknown', 1 FROM generate_series(6, 9) n;
       INSERT INTO "AnsweredRequest" ("teamId", "appId", "clientId", "requestId", at, method, route, status, ms)
         SELECT 'builders', 'trainer-app', 'trainer-app', 'r', now() - n * interval '1 day', 'GET', '/', 200, 1 FROM generate_series(5, 8) n;
       INSERT INTO "FailedSignIn" ("teamId", "clientId", "requestId", at, method, route, status, error, message, ms)
         SELECT 'builders', 'trainer-app', 'r', now() - n * interval '1 day', 'GET', '/authorize', 400, 'e', 'm', 1 FROM generate_series(6, 7) n;
       INSERT INTO "ClientUsage" SELECT 'builders', span, now() - n * interval '12 hours', 'trainer-app', 1, 0, 0
         FROM generate_series(1, 3) n, unnest('{minute,hour}'::"UsageSpan"[]) AS span`,
    )
    const keep = { KEEP_EVENTS_DAYS: '10', KEEP_CONSENTS_DAYS: '3' }
    expect(await run(['clean'], { ...env, ...keep })).toEqual(
      counted({
        'idempotency-records': 3,
        'oauth-records': 2,
        'login-codes': 1,
        events: 1,
        'member-changes': 1,
        subscriptions: 1,
        'former-secrets': 1,
        consents: 2,
        'refused-requests': 3,
        'answered-requests': 2,
        'failed-sign-ins': 1,
        usage: 2,
        'storage-requests': 2,
      }),
    )
    expect(await run(['clean'], { ...env, ...keep })).toEqual(counted({}))
    expect(await ask(env.DATABASE_URL, `SELECT id FROM "PublishedEvent"`)).toEqual([{ id: 'young' }])
    expect(await ask(env.DATABASE_URL, `SELECT id FROM "Consent" ORDER BY id`)).toEqual([{ id: '1' }, { id: '2' }])
  })

  it('does the other tasks after one that fails, prints the rows of each, and exits with 1', async () => {
    const env = settings()
    await ask(
      env.DATABASE_URL,
      `INSERT INTO "LoginCode" VALUES ('i', 'a@example.org', '', 'b', false, 0, ${ago(2 * HOUR)}, ${ago(2 * HOUR)});
       ALTER TABLE "StorageChange" RENAME TO away`,
    )
    try {
      const { code, stdout, stderr } = await run(['clean', '--json'], env)
      const fault = 'relation "StorageChange" does not exist'
      expect({ code, stderr }).toEqual({ code: 1, stderr: `storage-changes failed: ${fault}\n` })
      expect(JSON.parse(stdout)).toEqual(
        expect.arrayContaining([
          { task: 'login-codes', rows: 1, fault: null },
          { task: 'storage-changes', rows: 0, fault },
          { task: 'signing-keys', rows: 0, fault: null },
        ]),
      )
      expect(await run(['clean'], env)).toEqual({ ...counted({}), code: 1, stderr })
    } finally {
      await ask(env.DATABASE_URL, 'ALTER TABLE away RENAME TO "StorageChange"')
    }
  })

  it('removes retired signing keys with their SECRETS_KEY, and none with another', async () => {
    const env = settings()
    await run(['keys', 'rotate', '--now'], env)
    await run(['keys', 'rotate', '--now'], env)
    await ask(env.DATABASE_URL, `UPDATE "SigningKey" SET "signsFrom" = "signsFrom" - interval '1 hour'`)
    expect(await run(['clean'], settings())).toEqual(counted({}))
    expect(await run(['clean'], env)).toEqual(counted({ 'signing-keys': 1 }))
  })

  it('takes no arguments', async () => {
    expect(await run(['clean', 'all'], settings())).toEqual(misused("Too many arguments for 'clean'."))
  })
})
