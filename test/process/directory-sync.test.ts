import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { expect, it, onTestFinished } from 'vitest'
import { migrate } from '../../prisma/migrate.ts'
import { emptyDatabase, query } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'
import { SECRETS_KEY } from '../support/secrets-key.ts'
import { command, freePort, run, start } from './service.ts'

const root = join(import.meta.dirname, '../..')
const example = join(root, 'examples/directory-sync/sync.js')

const TABLES = `
  CREATE TABLE clubs (id text PRIMARY KEY, name text NOT NULL, "updatedAt" timestamptz NOT NULL DEFAULT clock_timestamp());
  CREATE TABLE members (id text PRIMARY KEY, "firstName" text, "lastName" text, email text, birthday date,
    "updatedAt" timestamptz NOT NULL DEFAULT clock_timestamp());
  CREATE TABLE club_members (club text, member text, joined timestamptz, resigned timestamptz,
    "updatedAt" timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (club, member));
  CREATE TABLE trainings (id text PRIMARY KEY, club text, title text, starts timestamptz, ends timestamptz, place text,
    cancelled boolean NOT NULL DEFAULT false, "updatedAt" timestamptz NOT NULL DEFAULT clock_timestamp());
  INSERT INTO clubs VALUES ('riverside', 'Riverside');
  INSERT INTO members SELECT 'm' || i, 'First', 'Last', 'm' || i || '@example.org', CASE WHEN i % 2 = 0 THEN '1990-02-03'::date END
    FROM generate_series(1, 1500) i;
  INSERT INTO club_members SELECT 'riverside', 'm' || i, '2020-01-15T00:00:00Z' FROM generate_series(1, 1500) i;
  INSERT INTO trainings VALUES ('t1', 'riverside', 'Sprint', '2026-12-01T18:00:00Z', '2026-12-01T19:30:00Z', 'Track')`

/** The example in a project of its own, beside pg and the client package as it is bundled. */
async function project() {
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-sync-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const client = join(directory, 'node_modules/member-apps-client')
  await mkdir(client, { recursive: true })
  await writeFile(join(client, 'package.json'), '{ "type": "module", "exports": "./client.js" }')
  const bundle = await rolldown({ input: join(root, 'clients/first-party/client.ts'), platform: 'neutral' })
  await bundle.write({ file: join(client, 'client.js') })
  await symlink(join(root, 'node_modules/pg'), join(directory, 'node_modules/pg'))
  await copyFile(example, join(directory, 'sync.mjs'))
  return directory
}

it('the example directory-sync has under 80 lines', async () => {
  expect((await readFile(example, 'utf8')).trimEnd().split('\n').length).toBeLessThan(80)
})

it('the example directory-sync keeps the service in step with another database', async () => {
  const [DATABASE_URL, SOURCE_URL, directory] = await Promise.all([emptyDatabase(), emptyDatabase(), project()])
  await query(SOURCE_URL, TABLES)
  await migrate(DATABASE_URL)
  await query(DATABASE_URL, `INSERT INTO "Organisation" (id, kind, name) VALUES ('provider', 'provider', 'Provider')`)
  const [PORT, INTERNAL_PORT] = (await Promise.all([freePort(), freePort()])).map(String) as [string, string]
  const AUTH_BASE_URL = `http://127.0.0.1:${PORT}/v1`
  const env = { DATABASE_URL, SECRETS_KEY, PORT, INTERNAL_PORT, AUTH_BASE_URL, WEBHOOK_WORKER: 'false' }
  const options = ['--id', 'sync', '--name', 'Sync', '--scope', 'directory:write']
  const added = await command('client', ['add', '--first-party', ...options], env).ended
  const [, CLIENT_SECRET] = /: (\S+)$/m.exec(added.stdout)!
  const service = await start(env)

  const sync = () => {
    const settings = {
      SOURCE_URL,
      TOKEN_URL: `${AUTH_BASE_URL}/oauth/token`,
      CLIENT_ID: 'sync',
      ORGANISATION: 'provider',
    }
    const more = {
      TRPC_URL: `http://127.0.0.1:${INTERNAL_PORT}/trpc`,
      STATE_FILE: join(directory, 'state'),
      SECONDS: '0.5',
    }
    const program = run([join(directory, 'sync.mjs')], { ...settings, ...more, CLIENT_SECRET: CLIENT_SECRET! })
    const stop = async () => {
      program.child.kill('SIGKILL')
      await program.ended
    }
    onTestFinished(stop)
    return { ...program, stop }
  }
  const first = sync()
  const stored = async (sql: string) => (await query(DATABASE_URL, `SELECT (${sql})::text AS value`))[0].value
  const becomes = (sql: string, value: string | null) =>
    expect.poll(() => stored(sql), { message: first.stdout() }).toBe(value)

  await becomes('SELECT count(*) FROM "Event"', '1')
  await becomes(
    'SELECT count(*) FROM "Membership" WHERE "joinedAt" = \'2020-01-15T00:00:00Z\' AND "leftAt" IS NULL',
    '1500',
  )
  await becomes(`SELECT array_agg(birthday ORDER BY id) FROM "Person" WHERE id IN ('m1', 'm2')`, '{NULL,1990-02-03}')
  expect(first.stdout()).toMatch(
    /Z people: 1000 added, 0 changed, 0 ended\n.*Z people: 500 added, 0 changed, 0 ended\n/,
  )

  // A transaction that wrote before others and commits after them.
  const late = pgClient(SOURCE_URL)
  await late.connect()
  await late.query(`BEGIN; UPDATE members SET "firstName" = 'Late', "updatedAt" = clock_timestamp() WHERE id = 'm1'`)
  const change = (rest: string) => query(SOURCE_URL, `UPDATE ${rest}`)
  await change(`members SET "firstName" = 'Early', "updatedAt" = clock_timestamp() WHERE id = 'm2'`)
  await becomes(`SELECT "firstName" FROM "Person" WHERE id = 'm2'`, 'Early')
  await late.query('COMMIT')
  await late.end()
  await becomes(`SELECT "firstName" FROM "Person" WHERE id = 'm1'`, 'Late')

  await change(
    `club_members SET resigned = '2026-01-01T00:00:00Z', "updatedAt" = clock_timestamp() WHERE member = 'm1'`,
  )
  await becomes(`SELECT "leftAt" = '2026-01-01T00:00:00Z' FROM "Membership" WHERE "personId" = 'm1'`, 'true')
  await change(`trainings SET cancelled = true, "updatedAt" = clock_timestamp()`)
  await becomes('SELECT count(*) FROM "Event"', '0')

  // Neither a service that is away nor an end of the program loses a change.
  await service.stop()
  await change(`clubs SET name = 'Renamed', "updatedAt" = clock_timestamp()`)
  await expect.poll(() => first.stdout()).toMatch(/fetch failed|ECONNREFUSED/)
  await start(env)
  await becomes(`SELECT name FROM "Organisation" WHERE id = 'riverside'`, 'Renamed')
  await first.stop()
  await change(`club_members SET resigned = NULL, "updatedAt" = clock_timestamp() WHERE member = 'm1'`)
  const second = sync()
  await becomes(`SELECT "leftAt" FROM "Membership" WHERE "personId" = 'm1'`, null)
  await expect.poll(() => second.stdout()).toContain('memberships: 0 added, 1 changed, 0 ended\n')
  expect(second.stdout()).not.toContain('people')
})
