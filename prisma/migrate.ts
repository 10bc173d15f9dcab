import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { AppliedMigration } from './applied-migrations.ts'
import { ForeignMigrationError, isPending, readApplied, recordApplied, unknownAmong } from './applied-migrations.ts'
import { runAlone } from './migrate-alone.ts'
import type { Migration } from './migration-files.ts'
import { migrationsDirectory, readMigrations } from './migration-files.ts'
import { limitSessions, UNLIMITED } from './session-limits.ts'

/** That of Prisma Migrate, so that `prisma migrate deploy` waits as well. */
const LOCK = 72707369
const LOOK_AGAIN_MS = 200

/** A statement that waits for a table makes all later ones wait behind it: it gives up soon, and lets them pass meanwhile. */
const LOCK_TIMEOUT = '2s'
const PAUSES_MS: readonly number[] = [500, 1_000, 2_000, 4_000]

/** Options in the URL replace those of the client. */
const SETTINGS = `SET LOCAL timezone = 'UTC'; ${UNLIMITED}`

export interface MigrateOptions {
  directory?: string | undefined
  role?: string | undefined
  waits?: () => void
  /** Gets what was found before anything is applied. */
  found?: (state: SchemaState) => void
  /** Between the tries of a migration; as many as there are tries but one. */
  pausesMs?: readonly number[]
}

/** The database compared with the migrations of this release, by their names. */
export interface SchemaState {
  /** No migration has ever been applied. */
  isNew: boolean
  /** What the database lacks. */
  pending: string[]
  /** What it has and this release does not know: it is of a newer release. */
  unknown: string[]
}

/** Changes nothing. Throws as `migrate` does when a migration is recorded as failed or was edited. */
export async function compareSchema(url: string, directory = migrationsDirectory()): Promise<SchemaState> {
  const migrations = await readMigrations(directory)
  return withClient(url, async (client) => stateOf(migrations, await readApplied(client)))
}

const stateOf = (migrations: readonly Migration[], applied: readonly AppliedMigration[]): SchemaState => ({
  isNew: applied.length === 0,
  pending: migrations.filter((migration) => isPending(migration, applied)).map(({ name }) => name),
  unknown: unknownAmong(applied, migrations),
})

/**
 * Applies the pending migrations, each in a transaction of its own, and returns their names; then limits the sessions of
 * `role`, unset: its own. Of several processes one applies and the others wait; `waits` is called once when this one does.
 * Throws when a migration fails or is recorded as failed; a ForeignMigrationError when one was edited after it had been applied.
 */
export async function migrate(
  url: string,
  {
    directory = migrationsDirectory(),
    role,
    waits = () => {},
    found = () => {},
    pausesMs = PAUSES_MS,
  }: MigrateOptions = {},
): Promise<string[]> {
  const migrations = await readMigrations(directory)
  return withClient(url, async (client) => {
    const applied = await readApplied(client)
    found(stateOf(migrations, applied))
    const pending = migrations.filter((migration) => isPending(migration, applied))
    const own: string[] = []
    for (const migration of pending) {
      if (await applyOne(client, migration, { url, migrations, waits, pausesMs })) own.push(migration.name)
    }
    await limitSessions(client, role)
    return own
  })
}

interface Surroundings {
  url: string
  migrations: readonly Migration[]
  waits: () => void
  pausesMs: readonly number[]
}

/**
 * False when another process has applied it meanwhile. The transaction that records it holds the lock; a migration that
 * runs alone does so beside that transaction, on a connection of its own. So each is applied once, also through a pooler,
 * where a lock of the session would stay with somebody else's connection.
 */
async function applyOne(client: pg.Client, migration: Migration, { url, migrations, waits, pausesMs }: Surroundings) {
  for (let tries = 1; ; tries++) {
    try {
      await beginLocked(client, waits)
      const applied = await readApplied(client)
      const pending = isPending(migration, applied)
      if (pending) {
        const running = migration.alone ? runAlone(url, migration.sql, LOCK_TIMEOUT) : client.query(migration.sql)
        await running.catch(failing(migration, migrations, applied))
        await recordApplied(client, migration)
      }
      await client.query('COMMIT')
      return pending
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {}) // of a lost connection, the server does it
      if (tries > pausesMs.length || !isHeldUp((error as Error).cause ?? error)) throw error
      await pause(pausesMs[tries - 1])
    }
  }
}

/** Asks again and again: a statement that waits has a snapshot, for which CREATE INDEX CONCURRENTLY of the other waits. */
async function beginLocked(client: pg.Client, waits: () => void): Promise<void> {
  for (let looks = 0; ; looks++) {
    await client.query(`BEGIN; ${SETTINGS}; SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`)
    const { rows } = await client.query('SELECT pg_try_advisory_xact_lock($1) AS locked', [LOCK])
    if (rows[0].locked) return
    await client.query('ROLLBACK')
    if (looks === 0) waits()
    await pause(LOOK_AGAIN_MS)
  }
}

/** Lock time-out or deadlock. */
const isHeldUp = (error: unknown) => ['55P03', '40P01'].includes((error as { code?: string }).code ?? '')

/** Rethrows what a migration threw, with its name. */
const failing =
  ({ name, alone }: Migration, migrations: readonly Migration[], applied: readonly AppliedMigration[]) =>
  (cause: Error): never => {
    const failed = `Migration ${name} failed, and ${alone ? 'can be run again' : 'nothing of it was changed'}`
    const [foreign] = unknownAmong(applied, migrations)
    if (isHeldUp(cause)) {
      const advice =
        'a long transaction of somebody else may hold what it needs (pg_stat_activity), start again after it'
      throw new Error(`${failed}: ${cause.message}; ${advice}.`, { cause })
    }
    const message = `${failed}: ${cause.message}`
    throw foreign === undefined ? new Error(message, { cause }) : new ForeignMigrationError(foreign, message)
  }

async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    options: '-c timezone=UTC',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  })
  client.on('error', () => {}) // a lost connection also fails the current query
  await client.connect()
  return use(client).finally(() => client.end())
}
