import { execFile, spawnSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { inject } from 'vitest'
import { readUpgrade } from '../../../prisma/migration-files.ts'
import type { AtEnd } from '../../support/databases.ts'
import { emptyDatabase, query } from '../../support/databases.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

/** Commits with the schema of the first release that is upgraded, of two later ones, and the last with many migrations. */
export const formerCommits = ['283ca89d', 'fc5e3fa5', '6ea6af0f', '790dee64'] as const

const read = async (file: string) => gunzipSync(await readFile(new URL(file, import.meta.url))).toString()

/**
 * A database as the commit has left it: migrated and seeded by its commands, then rows.sql, from 6ea6af0f on rows-6ea6af0f.sql too,
 * and taken by `pg_dump --inserts --no-owner --no-privileges`, without its \restrict lines.
 */
export async function formerDatabase(commit: (typeof formerCommits)[number], atEnd?: AtEnd): Promise<string> {
  const url = await emptyDatabase(atEnd)
  const [{ lz4 }] = await query(
    url,
    `SELECT 'lz4' = ANY (enumvals) AS lz4 FROM pg_settings WHERE name = 'default_toast_compression'`,
  )
  const dump = await read(`${commit}.sql.gz`)
  await query(url, lz4 ? dump : dump.replace(/^ALTER TABLE .* SET COMPRESSION lz4;$/m, ''))
  return url
}

/** The migrations of 283ca89d, in a directory for `migrate`. */
export async function oldestDirectory(): Promise<string> {
  const directory = await temporaryDirectory()
  await unpack('283ca89d-migrations.tar.gz', directory)
  await mkdir(join(directory, 'functions/triggers'), { recursive: true })
  return directory
}

/**
 * All migrations up to 790dee64 in such a directory, those that were edited as they were before (six at once: no commit had them
 * together).
 */
export async function editedDirectory(): Promise<string> {
  const directory = await oldestDirectory()
  for (const { name, sql } of await readUpgrade()) {
    if (name > '20261127130000') break
    await mkdir(join(directory, 'migrations', name))
    await writeFile(join(directory, 'migrations', name, 'migration.sql'), sql)
  }
  await unpack('edited-migrations.tar.gz', directory)
  return directory
}

const unpack = (archive: string, directory: string) =>
  promisify(execFile)('tar', ['-xzf', fileURLToPath(new URL(archive, import.meta.url)), '-C', directory])

/** The statements that nodes of 6ea6af0f prepare, and the names of their columns by the server's description. */
export const formerStatements = async (): Promise<{ name: string; text: string; columns: string[] }[]> =>
  JSON.parse(await read('statements-6ea6af0f.json.gz'))

/** Whether there is a pg_dump that reads the test's server. */
export async function hasPgDump(): Promise<boolean> {
  const major = /\d+/.exec(spawnSync('pg_dump', ['--version']).stdout?.toString() ?? '')?.[0] ?? 0
  const [{ server_version_num: number }] = await query(inject('databaseUrl'), 'SHOW server_version_num')
  return Number(major) >= Math.floor(number / 10_000)
}
