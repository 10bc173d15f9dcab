import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface SqlFile {
  name: string
  sql: string
  checksum: string
}

export interface Migration extends SqlFile {
  /** The file's only statement runs outside a transaction, such as CREATE INDEX CONCURRENTLY. */
  alone: boolean
}

const ALONE = /^-- no-transaction\r?\n/

/** Returns the migrations in the order of application. `directory` contains `migrations` and `functions`. */
export async function readMigrations(directory = schemaDirectory()): Promise<Migration[]> {
  const entries = await readdir(join(directory, 'migrations'), { withFileTypes: true })
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return Promise.all(
    names.sort().map((name) => readMigration(name, join(directory, 'migrations', name, 'migration.sql'))),
  )
}

/** Returns the steps to the first migration in the order of application: databases from before it have some of them. */
export async function readUpgrade(directory = schemaDirectory()): Promise<Migration[]> {
  const place = join(directory, 'upgrade')
  const names = existsSync(place) ? (await readdir(place)).filter((name) => name.endsWith('.sql')) : []
  return Promise.all(names.sort().map((name) => readMigration(basename(name, '.sql'), join(place, name))))
}

async function readMigration(name: string, path: string): Promise<Migration> {
  const file = await readSql(name, path)
  return { ...file, alone: ALONE.test(file.sql) }
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
