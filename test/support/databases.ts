import { randomBytes } from 'node:crypto'
import { inject, onTestFinished } from 'vitest'
import { createOnCitus, dropOnCitus } from '../../deploy/citus.ts'
import { limitSessions } from '../../prisma/session-limits.ts'
import type { TimeLimits } from '../../prisma/time-limits.ts'
import { direct, withName } from './addresses.ts'
import { ask } from './ask.ts'
import { pgClient } from './pg-client.ts'

/** Registers what ends a resource: `onTestFinished`, or what a file runs in its `afterAll`. */
export type AtEnd = (end: () => Promise<void>) => void

/** The address of an empty database, dropped after the test. */
export const emptyDatabase = (atEnd: AtEnd = onTestFinished) => createDatabase('template1', atEnd)

/** The address of a migrated database without rows, dropped after the test. */
export const migratedDatabase = (atEnd: AtEnd = onTestFinished) =>
  inject('isCitus') ? distributedDatabase(atEnd) : createDatabase(inject('migratedDatabase'), atEnd)

async function distributedDatabase(atEnd: AtEnd): Promise<string> {
  const server = inject('databaseUrl')
  const name = `${inject('databasePrefix')}_${randomBytes(6).toString('hex')}`
  await createOnCitus(server, name)
  atEnd(() => dropOnCitus(server, name))
  return withName(server, name)
}

/** A migrated database whose sessions have no limits: a copy has none. */
export const unlimitedDatabase = () => createDatabase(inject('migratedDatabase'), onTestFinished, { limited: false })

async function createDatabase(template: string, atEnd: AtEnd, { limited = template !== 'template1' } = {}) {
  const server = inject('databaseUrl')
  const name = `${inject('databasePrefix')}_${randomBytes(6).toString('hex')}`
  await administer(server, `CREATE DATABASE ${name} TEMPLATE ${template}`)
  await administer(server, `${withoutWaiting(name)}; ${limited ? copySettings(template, name) : ''}`)
  // It waits for a checkpoint, for which no test need wait; the end of the run drops what is left.
  if (!inject('isTemporary')) {
    atEnd(async () => {
      administer(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).catch(() => {})
    })
  }
  return withName(server, name)
}

/** Not within the time of the service's statements: a busy disk takes longer to copy a database. */
function administer(server: string, sql: string): Promise<unknown> {
  const url = new URL(direct(server))
  url.searchParams.set('options', '-c statement_timeout=0')
  return ask(url.href, sql)
}

/** A copy of a database has none of the settings that migrations made, its own and those of roles in it. */
const copySettings = (template: string, name: string) => `DO $$
  DECLARE one text;
  BEGIN
    FOR one IN
      SELECT format('ALTER %s SET %I = %L',
        CASE WHEN setrole = 0 THEN 'DATABASE ${name}' ELSE format('ROLE %I IN DATABASE ${name}', rolname) END,
        split_part(setting, '=', 1), substr(setting, strpos(setting, '=') + 1))
      FROM pg_db_role_setting LEFT JOIN pg_roles r ON r.oid = setrole JOIN pg_database d ON d.oid = setdatabase,
        unnest(setconfig) setting WHERE datname = '${template}'
    LOOP EXECUTE one; END LOOP;
  END $$`

/** No test cuts this server's power: a commit need not wait for its disk. */
const withoutWaiting = (name: string) => `ALTER DATABASE ${name} SET synchronous_commit = off`
export const commitWithoutWaiting = (server: string, name: string) => query(server, withoutWaiting(name))

/** As the migration does: a copy of a database has no settings of its own. */
export const withoutJit = (server: string, name: string) => query(server, `ALTER DATABASE ${name} SET jit = off`)

/** As `migrate` does, with other limits. Also in place of those that a migration has set. */
export async function limitOwnSessions(url: string, limits: TimeLimits): Promise<void> {
  const client = pgClient(direct(url))
  await client.connect()
  try {
    // Until the session ends: two services of a test that start at once would write the same row.
    await client.query("SELECT pg_advisory_lock(hashtext('limitOwnSessions'))")
    await client.query(
      `DO $$ BEGIN EXECUTE format('ALTER ROLE %I IN DATABASE %I RESET ALL', current_user, current_database()); END $$`,
    )
    await limitSessions(client, undefined, limits)
  } finally {
    await client.end()
  }
}

/** Runs SQL of a test, which may take longer than the service's statements; `limited` leaves the session's own limits. */
// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
export async function query(url: string, sql: string, { limited = false } = {}): Promise<any[]> {
  const options = limited ? '' : '-c statement_timeout=0'
  const client = pgClient({ connectionString: direct(url), options })
  await client.connect()
  const { rows } = await client.query(sql).finally(() => client.end())
  return rows
}
