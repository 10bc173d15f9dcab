import { describe, expect, it } from 'vitest'
import { migratedDatabase, query } from '../support/databases.ts'
import { SECRETS_KEY } from '../support/secrets-key.ts'
import { command, dataDirectory, until } from './service.ts'

const ROWS = 100_000

/** A database with expired records, and a table that notes how many each statement removes, in 0.1 s at least. */
async function databaseWithExpired() {
  const url = await migratedDatabase()
  await query(
    url,
    `INSERT INTO "OauthRecord" (model, id, payload, "expiresAt")
       SELECT 'Session', n::text, '{}', now() - interval '1 day' FROM generate_series(1, ${ROWS}) n;
     INSERT INTO "OauthRecord" (model, id, payload, "expiresAt") VALUES ('Session', 'live', '{}', now() + interval '1 day');
     CREATE TABLE statement (rows int);
     CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       INSERT INTO statement SELECT count(*) FROM removed; PERFORM pg_sleep(0.1); RETURN NULL; END $$;
     CREATE TRIGGER note AFTER DELETE ON "OauthRecord" REFERENCING OLD TABLE AS removed
       FOR EACH STATEMENT EXECUTE FUNCTION note()`,
  )
  return url
}

const left = async (url: string): Promise<string[]> =>
  (await query(url, 'SELECT id FROM "OauthRecord"')).map(({ id }) => id)
const state = async (url: string) =>
  (
    await query(
      url,
      `SELECT removed::int, "leasedUntil" > clock_timestamp() AS leased FROM "Housekeeping" WHERE name = 'oauth-records'`,
    )
  )[0]

describe('100,000 expired records', () => {
  it('are all removed, at most 5,000 a statement, although the process that began was killed: another one takes over its lease', async () => {
    const DATABASE_URL = await databaseWithExpired()
    const env = { DATABASE_URL, SECRETS_KEY, DATA_DIR: await dataDirectory() }
    const first = command('clean', [], env)
    await until(
      () => state(DATABASE_URL),
      (row) => row?.removed >= 10_000 && row.leased,
    )
    first.child.kill('SIGKILL')
    expect(await first.ended).toMatchObject({ signal: 'SIGKILL', stdout: '' })
    expect((await left(DATABASE_URL)).length).toBeGreaterThan(1)

    const second = command('clean', [], env)
    // It waits for the lease, if the first was killed with one; 60 s are not awaited here.
    await query(
      DATABASE_URL,
      `UPDATE "Housekeeping" SET "leasedUntil" = clock_timestamp() WHERE "leasedUntil" IS NOT NULL`,
    )
    const { code, stdout, stderr } = await second.ended
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^oauth-records +\d+$/m)
    expect(await left(DATABASE_URL)).toEqual(['live'])
    const [{ most, sum }] = await query(DATABASE_URL, 'SELECT max(rows)::int AS most, sum(rows)::int FROM statement')
    expect([most, sum]).toEqual([5_000, ROWS])
  })
})
