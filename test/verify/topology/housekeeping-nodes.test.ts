import { describe, expect, it } from 'vitest'
import { dataDirectory, start, until } from '../../process/service.ts'
import { migratedDatabase, query } from '../../support/databases.ts'
import { SECRETS_KEY } from '../../support/secrets-key.ts'

/** Three portions. */
const ROWS = 12_000

const noted = (url: string) => query(url, 'SELECT rows, extract(epoch FROM at)::float8 * 1000 AS at FROM statement')

async function databaseWithExpired() {
  const url = await migratedDatabase()
  await query(
    url,
    `INSERT INTO "OauthRecord" (model, id, payload, "expiresAt")
       SELECT 'Session', n::text, '{}', now() - interval '1 day' FROM generate_series(1, ${ROWS}) n;
     CREATE TABLE statement (rows int, at timestamptz DEFAULT clock_timestamp());
     CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       PERFORM pg_sleep(0.5); INSERT INTO statement (rows) SELECT count(*) FROM removed; RETURN NULL; END $$;
     CREATE TRIGGER note AFTER DELETE ON "OauthRecord" REFERENCING OLD TABLE AS removed
       FOR EACH STATEMENT EXECUTE FUNCTION note()`,
  )
  return url
}

describe('two services', { timeout: 300_000 }, () => {
  it('remove what has expired once, a minute after their start, and stop in the middle of it when they are told to', async () => {
    const urls = [await databaseWithExpired(), await databaseWithExpired()]
    const begin = Date.now()
    const services = await Promise.all(
      urls.flatMap((DATABASE_URL) =>
        [1, 2].map(async () => start({ DATABASE_URL, SECRETS_KEY, DATA_DIR: await dataDirectory() })),
      ),
    )
    const [whole, cut] = [services.slice(0, 2), services.slice(2)]

    await until(
      () => noted(urls[1]!),
      ({ length }) => length > 0,
      180_000,
    )
    for (const ended of await Promise.all(cut.map((service) => service.stop()))) {
      expect(ended).toMatchObject({ code: 0, stderr: '' })
    }
    const lease = `SELECT "leasedUntil", "finishedAt", removed::int FROM "Housekeeping" WHERE name = 'oauth-records'`
    const [left] = await query(urls[1]!, 'SELECT count(*)::int FROM "OauthRecord"')
    expect(left.count).toBeGreaterThan(0)
    expect(await query(urls[1]!, lease)).toEqual([{ leasedUntil: null, finishedAt: null, removed: ROWS - left.count }])

    await until(
      async () => (await query(urls[0]!, lease))[0]?.finishedAt,
      (finishedAt) => finishedAt instanceof Date,
      180_000,
    )
    const statements = (await noted(urls[0]!)).filter(({ rows }) => rows > 0)
    expect(statements.map(({ rows }) => rows)).toEqual([5_000, 5_000, 2_000])
    expect(statements[0].at - begin).toBeGreaterThan(60_000)
    for (const service of whole) await service.stop()
    const logged = whole.flatMap(({ stdout }) => [...stdout().matchAll(/"oauth-records":(\d+)/g)])
    expect(logged.reduce((sum, [, rows]) => sum + Number(rows), 0)).toBe(ROWS)
  })
})
