import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { Migration } from './migration-files.ts'

// Table and checksum are Prisma Migrate's, so that `prisma migrate deploy` works on the same database.
const TABLE = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0)`

export class ForeignMigrationError extends Error {
  readonly migration: string
  constructor(migration: string, message: string) {
    super(message)
    this.migration = migration
  }
}

export interface AppliedMigration {
  name: string
  checksum: string
  finished: boolean
}

export async function readApplied(client: pg.Client): Promise<AppliedMigration[]> {
  const table = await client.query(`SELECT to_regclass('"_prisma_migrations"') IS NOT NULL AS exists`)
  if (!table.rows[0].exists) return []
  const { rows } = await client.query<AppliedMigration>(
    `SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
     FROM "_prisma_migrations" WHERE rolled_back_at IS NULL ORDER BY migration_name COLLATE "C"`,
  )
  return rows
}

/** Throws when the migration is recorded as failed; a ForeignMigrationError when it was edited after it had been applied. */
export function isPending(
  { name, checksum }: Pick<Migration, 'name' | 'checksum'>,
  applied: readonly AppliedMigration[],
): boolean {
  const row = applied.find((candidate) => candidate.name === name)
  if (row && !row.finished) {
    throw new Error(`Migration ${name} is recorded as failed: repair the database, then see "prisma migrate resolve".`)
  }
  if (row && row.checksum !== checksum) {
    throw new ForeignMigrationError(
      name,
      `Migration ${name} was edited after it had been applied: restore it, and write a new migration.`,
    )
  }
  return !row
}

export async function recordApplied(client: pg.Client, { name, checksum }: Migration): Promise<void> {
  await client.query(TABLE)
  await client.query(
    `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
     VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp(), 1)`,
    [randomUUID(), checksum, name],
  )
}
