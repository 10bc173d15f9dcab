import pg from 'pg'
import { changedAmong, isNewer, readAppliedFunctions, recordFunctions } from './applied-functions.ts'
import { ForeignMigrationError, readApplied, recordApplied } from './applied-migrations.ts'
import type { SqlFile } from './migration-files.ts'
import { readFunctions, readMigrations, readUpgrade, schemaDirectory } from './migration-files.ts'
import { inLockedTransaction, isHeldUp, LOCK_TIMEOUT } from './migration-lock.ts'
import type { MigrationFiles } from './pending-migrations.ts'
import { isFormer, pendingAmong, unknownAmong } from './pending-migrations.ts'
import { withConnection } from './pg/transaction.ts'
import { checkClientSchema } from './search-path.ts'
import { limitSessions } from './session-limits.ts'

const CREATE_INDEX = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY (?:IF NOT EXISTS )?"(\w+)"/m

/**
 * Runs a migration's single statement outside a transaction. CONCURRENTLY waits without blocking others, so there is no time
 * limit. An index that a crash left half built is rebuilt.
 */
async function runAlone(url: string, sql: string, lockTimeout: string): Promise<void> {
  const timeout = /\bCONCURRENTLY\b/i.test(sql) ? '0' : lockTimeout
  await withConnection(url, async (client) => {
    await client.query(`SET statement_timeout = 0; SET lock_timeout = '${timeout}'`)
    const index = CREATE_INDEX.exec(sql)?.[1]
    if (index !== undefined) {
      const { rows } = await client.query(
        `SELECT FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
         WHERE relname = $1 AND relnamespace = current_schema()::regnamespace AND NOT indisvalid`,
        [index],
      )
      if (rows.length > 0) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS "${index}"`)
    }
    await client.query(sql)
  })
}

export interface MigrateOptions {
  directory?: string | undefined
  role?: string | undefined
  waits?: () => void
  /** Called before anything is applied. */
  found?: (state: SchemaState) => void
  /** Pauses between attempts at a transaction; one fewer than the attempts. */
  pausesMs?: readonly number[] | undefined
}

export interface SchemaState {
  isNew: boolean
  pending: string[]
  /** Files of functions that are missing or from an older release. */
  functions: string[]
  /** The newer release's parts. */
  newer: string | undefined
}

interface Files extends MigrationFiles {
  functions: SqlFile[][]
}

async function readFiles(directory: string): Promise<Files> {
  const [migrations, steps, functions] = await Promise.all([
    readMigrations(directory),
    readUpgrade(directory),
    readFunctions(directory),
  ])
  return { migrations, steps, functions }
}

/** Changes nothing. Throws as `migrate` does when a migration is recorded as failed or was edited, or the schema is another one. */
export async function compareSchema(url: string, directory = schemaDirectory()): Promise<SchemaState> {
  const files = await readFiles(directory)
  return withClient(url, (client) => readState(client, files))
}

async function readState(client: pg.Client, files: Files): Promise<SchemaState> {
  await checkClientSchema(client)
  const applied = await readApplied(client)
  const pending = pendingAmong(files, applied)
  const unknown = pending.length === 0 ? unknownAmong(files, applied).at(-1) : undefined
  const appliedFunctions = await readAppliedFunctions(client)
  const later = appliedFunctions.find(isNewer)
  return {
    isNew: applied.length === 0,
    pending: pending.map(({ name }) => name),
    functions: unknown ? [] : changedAmong(files.functions.flat(), appliedFunctions).map(({ name }) => name),
    newer: unknown ? `the migration ${unknown}` : later && `${later.name} of ${later.release}`,
  }
}

/**
 * Applies the pending migrations, each in its own transaction, then the changed functions, and returns their names; then limits
 * the sessions of `role` (default: the current one). One process applies while others wait; `waits` is called once when this one
 * does. Throws when something fails or is recorded as failed, or when the database is too old for this release; a
 * ForeignMigrationError when a migration was edited after it had been applied.
 */
export async function migrate(
  url: string,
  { directory = schemaDirectory(), role, waits = () => {}, found = () => {}, pausesMs }: MigrateOptions = {},
): Promise<string[]> {
  const files = await readFiles(directory)
  return withClient(url, async (client) => {
    const state = await readState(client, files)
    found(state)
    const own: string[] = []
    const apply = async (work: () => Promise<string[]>) => {
      const names = await inLockedTransaction(client, work, { waits, pausesMs })
      own.push(...names)
      return names.length > 0
    }
    if (state.pending.length > 0) while (await apply(() => applyNext(client, files, url)));
    // Nobody waits for the tables of a new database.
    for (const group of state.isNew ? [files.functions.flat()] : files.functions)
      if (group.some(({ name }) => state.functions.includes(name))) await apply(() => applyFunctions(client, group))
    await limitSessions(client, role)
    return own
  })
}

/**
 * The transaction that records a migration holds the lock; a migration that runs alone does so meanwhile, on a separate
 * connection. So each is applied once, also through a pooler, where a session lock would stay on a connection that others use.
 * Returns the name of what this process has applied, none when nothing is left.
 */
async function applyNext(client: pg.Client, files: Files, url: string): Promise<string[]> {
  const applied = await readApplied(client)
  const [migration] = pendingAmong(files, applied)
  if (migration === undefined) return []
  const { name, sql, alone } = migration
  // After all steps, the first migration is only recorded.
  if (migration !== files.migrations[0] || !isFormer(files, applied)) {
    const running = alone ? runAlone(url, sql, LOCK_TIMEOUT) : client.query(sql)
    await running.catch(failing(`Migration ${name}`, alone, unknownAmong(files, applied)[0]))
  }
  await recordApplied(client, migration)
  return [name]
}

/** Returns the names of the changed files that this process has applied. */
async function applyFunctions(client: pg.Client, files: readonly SqlFile[]): Promise<string[]> {
  const changed = changedAmong(files, await readAppliedFunctions(client))
  for (const { name, sql } of changed) await client.query(sql).catch(failing(name))
  await recordFunctions(client, changed)
  return changed.map(({ name }) => name)
}

/** Rethrows an error with its file's name; `foreign` is a migration that another release has applied. */
const failing =
  (what: string, alone = false, foreign?: string) =>
  (cause: Error): never => {
    const failed = `${what} failed, and ${alone ? 'can be run again' : 'nothing of it was changed'}`
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
