import { createHash, randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { limitSessions, UNLIMITED } from './session-limits.ts'

// Table, checksum and lock number are Prisma Migrate's, so that `prisma migrate deploy` works on the same database.
const TABLE = `CREATE TABLE "_prisma_migrations" (
  id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0)`
const LOCK = 72707369

/** The database was made by a version with other migrations. */
export class ForeignMigrationError extends Error {
  readonly migration: string
  constructor(migration: string, message: string) {
    super(message)
    this.migration = migration
  }
}

/**
 * Applies the pending migrations in one transaction and returns their names; concurrent callers wait for each other. Throws
 * when a migration fails or is recorded as failed; a ForeignMigrationError when one was edited after it had been applied.
 * Then limits the sessions of `role`, unset: its own.
 */
export async function migrate(url: string, directory = migrationsDirectory(), role?: string): Promise<string[]> {
  const migrations = await readMigrations(directory)
  const client = new pg.Client({ connectionString: url, options: '-c timezone=UTC', connectionTimeoutMillis: 10_000 })
  client.on('error', () => {}) // a lost connection also fails the current query
  await client.connect()
  try {
    await client.query('BEGIN')
    const applied = await applyMigrations(client, migrations)
    await client.query('COMMIT')
    await limitSessions(client, role)
    return applied
  } finally {
    await client.end() // rolls back an open transaction
  }
}

export interface Migration {
  name: string
  sql: string
  checksum: string
}

/** Applies those that are pending, in the open transaction of the client, and returns their names; throws as `migrate` does. */
export async function applyMigrations(client: pg.Client, migrations: readonly Migration[]): Promise<string[]> {
  // Options in the URL replace those of the client.
  await client.query(`SET LOCAL timezone = 'UTC'; SET LOCAL lock_timeout = '60s'; ${UNLIMITED}`)
  await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK])
  const table = await client.query(`SELECT to_regclass('"_prisma_migrations"') IS NOT NULL AS exists`)
  if (!table.rows[0].exists) await client.query(TABLE)
  const { rows } = await client.query<{ name: string; checksum: string; finished: boolean }>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
     FROM "_prisma_migrations" WHERE rolled_back_at IS NULL`,
  )
  const applied: string[] = []
  for (const { name, sql, checksum } of migrations) {
    const row = rows.find((candidate) => candidate.name === name)
    if (row && !row.finished) {
      throw new Error(
        `Migration ${name} is recorded as failed: repair the database, then see "prisma migrate resolve".`,
      )
    }
    if (row && row.checksum !== checksum) {
      throw new ForeignMigrationError(
        name,
        `Migration ${name} was edited after it had been applied: restore it, and write a new migration.`,
      )
    }
    if (row) continue
    await client.query(sql).catch((cause: Error) => {
      const message = `Migration ${name} failed, and nothing was changed: ${cause.message}`
      const foreign = rows.find((row) => !migrations.some((one) => one.name === row.name))
      throw foreign ? new ForeignMigrationError(foreign.name, message) : new Error(message, { cause })
    })
    await client.query(
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp(), 1)`,
      [randomUUID(), checksum, name],
    )
    applied.push(name)
  }
  return applied
}

export async function readMigrations(directory = migrationsDirectory()): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(directory, name, 'migration.sql'), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

/** Searches upwards: the compiled output in dist/prisma has no migrations. */
export function migrationsDirectory(): string {
  const here = dirname(fileURLToPath(import.meta.url))
  for (let directory = here; ; directory = dirname(directory)) {
    const migrations = join(directory, 'prisma', 'migrations')
    if (existsSync(join(migrations, 'migration_lock.toml'))) return migrations
    if (directory === dirname(directory)) throw new Error(`No prisma/migrations in ${here} or any directory above it.`)
  }
}
