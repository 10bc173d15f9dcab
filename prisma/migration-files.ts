import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface SqlFile {
  name: string
  sql: string
  checksum: string
}

export interface Migration extends SqlFile {
  /** The file's only statement runs outside a transaction, such as CREATE INDEX CONCURRENTLY. */
  alone: boolean
  /** Migrations that this one stands for: a database that has applied them has applied this one. */
  replaces: Omit<SqlFile, 'sql'>[]
}

const ALONE = /^-- no-transaction\r?\n/
const REPLACES = /^-- replaces (\S+) ([0-9a-f]{64})$/gm

/** Returns the migrations in the order of application. `directory` contains `migrations` and `functions`. */
export async function readMigrations(directory = schemaDirectory()): Promise<Migration[]> {
  const entries = await readdir(join(directory, 'migrations'), { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map(async (name) => {
      const file = await readSql(name, join(directory, 'migrations', name, 'migration.sql'))
      const replaces = Array.from(file.sql.matchAll(REPLACES), ([, name, checksum]) => ({
        name: name!,
        checksum: checksum!,
      }))
      return { ...file, alone: ALONE.test(file.sql), replaces }
    }),
  )
}

/**
 * Returns files grouped by transaction: all functions, as they call one another, then the triggers of each table, which lock it.
 */
export async function readFunctions(directory = schemaDirectory()): Promise<SqlFile[][]> {
  const read = async (place: string) => {
    const names = await readdir(join(directory, place))
    const files = names.filter((name) => name.endsWith('.sql')).sort()
    return Promise.all(files.map((name) => readSql(`${place}/${name}`, join(directory, place, name))))
  }
  const triggers = await read('functions/triggers')
  return [await read('functions'), ...triggers.map((file) => [file])]
}

async function readSql(name: string, path: string): Promise<SqlFile> {
  const sql = await readFile(path, 'utf8')
  return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') }
}

/** The directory with `migrations` and `functions`. Searches upwards, as the compiled output in dist/prisma has neither. */
export function schemaDirectory(): string {
  const here = dirname(fileURLToPath(import.meta.url))
  for (let directory = here; ; directory = dirname(directory)) {
    const found = join(directory, 'prisma')
    if (existsSync(join(found, 'migrations', 'migration_lock.toml'))) return found
    if (directory === dirname(directory)) throw new Error(`No prisma/migrations in ${here} or any directory above it.`)
  }
}
