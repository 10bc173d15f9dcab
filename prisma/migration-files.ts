import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface Migration {
  name: string
  sql: string
  checksum: string
  /** Its one statement runs outside of a transaction, such as CREATE INDEX CONCURRENTLY. */
  alone: boolean
}

/** The first line of a file that runs alone. */
const ALONE = /^-- no-transaction\r?\n/

/** The migrations of a directory, in the order in which they are applied. */
export async function readMigrations(directory = migrationsDirectory()): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(directory, name, 'migration.sql'), 'utf8')
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex'), alone: ALONE.test(sql) }
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
