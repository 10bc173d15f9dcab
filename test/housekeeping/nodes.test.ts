import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../../server/process/config.ts'
import { cadence } from '../../server/process/housekeeping.ts'
import { startService } from '../../server/process/start.ts'
import { limitOwnSessions, migratedDatabase, query } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'
import { SECRETS_KEY } from '../support/secrets-key.ts'
import { suiteLimits } from '../support/time-limits.ts'

/** Three portions. */
const ROWS = 12_000
const LOCK = 1

/** Two services on a database with expired records, whose portions do not end before `release` is called. */
async function startNodes() {
  const url = await migratedDatabase()
  await limitOwnSessions(url, suiteLimits)
  await query(
    url,
    `INSERT INTO "OauthRecord" (model, id, payload, "expiresAt")
       SELECT 'Session', n::text, '{}', now() - interval '1 day' FROM generate_series(1, ${ROWS}) n;
     CREATE TABLE statement (number serial, rows int);
     CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
       IF EXISTS (SELECT FROM removed) THEN
         PERFORM pg_advisory_xact_lock(${LOCK});
         INSERT INTO statement (rows) SELECT count(*) FROM removed;
       END IF;
       RETURN NULL; END $$;
     CREATE TRIGGER note AFTER DELETE ON "OauthRecord" REFERENCING OLD TABLE AS removed
       FOR EACH STATEMENT EXECUTE FUNCTION note()`,
  )
  const holder = pgClient(url)
  holder.on('error', () => {}) // its database is dropped when a test fails
  await holder.connect()
  await holder.query(`SELECT pg_advisory_lock(${LOCK})`)

  const lines: string[] = []
  const log = pino({}, { write: (line) => void lines.push(line) })
  const housekeeping = { intervalMs: 20, endingMs: 60_000 }
  const nodes = await Promise.all(
    [1, 2].map(async () => {
      const dataDir = await mkdtemp(join(tmpdir(), 'member-apps-nodes-'))
      onTestFinished(() => rm(dataDir, { recursive: true, force: true }))
      const config = readConfig({
        PORT: '0',
        INTERNAL_PORT: '0',
        DATABASE_URL: url,
        SECRETS_KEY,
        DATA_DIR: dataDir,
      })
      return startService(config, log, { timeLimits: suiteLimits, housekeeping })
    }),
  )
  let closed: Promise<unknown> | undefined
  const close = () => {
    closed ??= Promise.all(nodes.map((node) => node.close()))
    return closed
  }
  onTestFinished(async () => {
    await holder.end()
    await close()
  })
  const held = `SELECT FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`
  return {
    close,
    portionsUnderWay: async () => (await query(url, held)).length,
    release: () => holder.query(`SELECT pg_advisory_unlock(${LOCK})`),
    /** How many rows each statement removed. */
    removed: async () => (await query(url, 'SELECT rows FROM statement ORDER BY number')).map(({ rows }) => rows),
    tasks: () =>
      query(
        url,
        `SELECT name, "leasedUntil" IS NOT NULL AS leased, "finishedAt" IS NOT NULL AS finished, removed::int
           FROM "Housekeeping"`,
      ),
    logged: () => lines.map((line) => JSON.parse(line).removed?.['oauth-records'] ?? 0),
  }
}

describe('two services', () => {
  it('end with the portion under way when they are stopped', async () => {
    const { portionsUnderWay, close, release, removed, tasks } = await startNodes()
    await expect.poll(portionsUnderWay).toBe(1)
    const closed = close()
    await release()
    await closed
    expect(await removed()).toEqual([5_000])
    const [records] = (await tasks()).filter(({ name }) => name === 'oauth-records')
    expect(records).toEqual({ name: 'oauth-records', leased: false, finished: false, removed: 5_000 })
  })
})

it('a service looks for what has expired a minute after its start, as the documents say', async () => {
  const page = await readFile(new URL('../../docs/housekeeping.md', import.meta.url), 'utf8')
  expect(page).toContain('From a minute after its start')
  expect(cadence.intervalMs).toBe(60_000)
})
