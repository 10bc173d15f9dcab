import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import { addTeam, inviteToTeam } from '../../server/admin/teams.ts'
import { cadence, housekeepingTasks } from '../../server/process/housekeeping.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { parseSamples } from '../metrics/samples.ts'
import { startMailServer } from '../oauth/mail-server.ts'
import { direct } from '../support/addresses.ts'
import { migratedDatabase, query } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'
import { startInProcess } from '../support/service-in-process.ts'
import { openTestDatabase } from '../support/test-database.ts'

it('a service with SMTP_URL sends what is queued, with the address of its portal and its brand', async () => {
  const server = await startMailServer()
  onTestFinished(server.close)
  const url = await migratedDatabase()
  const db = openTestDatabase(url)
  const at = new Date(Date.now() - 1_000)
  await addTeam(db, { id: 'planners', name: 'Planners', level: 'hobby' }, at)
  await inviteToTeam(db, { team: 'planners', email: 'jo@example.org', role: 'owner' }, at)
  await db.$disconnect()
  const settings = { SMTP_URL: server.url, MAIL_FROM: 'apps@example.org', BRAND: 'Riverside' }
  const { config } = await startInProcess(url, { settings })
  await expect.poll(() => server.mails.length).toBe(1)
  const [mail] = server.mailsTo('jo@example.org')
  expect(mail!.headers).toMatchObject({
    from: 'Riverside <apps@example.org>',
    subject: 'Invitation to the team Planners',
  })
  expect(mail!.parts['text/plain']).toContain(`Sign in: ${config.authBaseUrl}/oauth/developers`)
})

/** The tasks with a time of their last success among the metrics. */
async function exported(internalPort: number) {
  const text = await (await fetch(`http://127.0.0.1:${internalPort}/metrics`)).text()
  const names = [...parseSamples(text).keys()].map((name) => /^housekeeping_last_success_.*"(.*)"/.exec(name)?.[1])
  return names.filter((name) => name !== undefined).sort()
}

it('a service has the last success of the tasks that it runs: none of mails without SMTP_URL, or of another release', async () => {
  const server = await startMailServer()
  onTestFinished(server.close)
  const url = await migratedDatabase()
  await query(
    url,
    `INSERT INTO "Housekeeping" (name, "nextAt", "finishedAt")
       SELECT name, now(), now() - interval '4 h' FROM unnest('{mails,renamed}'::text[]) AS task (name)`,
  )
  const settings = { SMTP_URL: server.url, MAIL_FROM: 'apps@example.org' }
  const [mailing, other] = [await startInProcess(url, { settings }), await startInProcess(url)]
  const tasks = housekeepingTasks(other.config, createCipher([randomBytes(32)])).map(({ name }) => name)
  await expect.poll(() => exported(other.internalPort)).toEqual(tasks.toSorted())
  await expect.poll(() => exported(mailing.internalPort)).toEqual([...tasks, 'mails'].sort())
})

/** Three portions. */
const ROWS = 12_000
const LOCK = 1

/** Two services on a database with expired records, whose portions do not end before `release` is called. */
async function startNodes() {
  const url = await migratedDatabase()
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
  const holder = pgClient(direct(url))
  holder.on('error', () => {}) // its database is dropped when a test fails
  await holder.connect()
  await holder.query(`SELECT pg_advisory_lock(${LOCK})`)

  const nodes = await Promise.all([1, 2].map(() => startInProcess(url)))
  const close = () => Promise.all(nodes.map((node) => node.close()))
  onTestFinished(async () => {
    await holder.end()
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
  }
}

it('two services end with the portion under way when they are stopped', async () => {
  const { portionsUnderWay, close, release, removed, tasks } = await startNodes()
  await expect.poll(portionsUnderWay).toBe(1)
  const closed = close()
  await release()
  await closed
  expect(await removed()).toEqual([5_000])
  const [records] = (await tasks()).filter(({ name }) => name === 'oauth-records')
  expect(records).toEqual({ name: 'oauth-records', leased: false, finished: false, removed: 5_000 })
})

it('a service looks for what has expired a minute after its start, as the documents say', async () => {
  const page = await readFile(new URL('../../docs/housekeeping.md', import.meta.url), 'utf8')
  expect(page).toContain('From a minute after its start')
  expect(cadence.intervalMs).toBe(60_000)
})
