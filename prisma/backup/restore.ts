import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { otherRelease } from '../applied-migrations.ts'
import { applyMigrations } from '../migrate.ts'
import { readMigrations } from '../migration-files.ts'
import { UNLIMITED } from '../session-limits.ts'
import type { Header, Section } from './file.ts'
import { readBackup } from './file.ts'
import type { Migrations } from './tables.ts'
import { COPY_SETTINGS, connect, migrationsOf, quoted, tablesOf, target } from './tables.ts'

export interface Backup extends Header {
  rows: number
}

/** Reads the whole file. Throws when it is no complete backup, or has migrations that this build does not know. */
export async function examineBackup(path: string): Promise<Backup> {
  let header: Header | undefined
  const rows = await readBackup(path, {
    header(read) {
      header = read
    },
  }).catch((error: Error) => {
    throw notComplete(path, error)
  })
  const known = await readMigrations()
  const other = otherRelease(header!.migrations, known)
  if (other !== null) throw new Error(`${path} ${other}: restore it with that release.`)
  for (const { name, checksum } of header!.migrations) {
    if (known.find((migration) => migration.name === name)!.checksum !== checksum)
      throw new Error(`${path} has another version of the migration ${name} than this build.`)
  }
  return { ...header!, rows }
}

/** The numbers of rows in a database, by table, without empty tables. Throws when a service or a worker uses it. */
export async function rowsIn(url: string): Promise<Map<string, number>> {
  const client = await connect(url)
  try {
    await client.query(`BEGIN; ${UNLIMITED}`)
    await requireUnused(client)
    const counts = new Map<string, number>()
    if ((await migrationsOf(client)).length === 0) return counts
    for (const { table } of await tablesOf(client, await readMigrations())) {
      const { rows } = await client.query<{ count: string }>(`SELECT count(*) FROM ${quoted(table)}`)
      if (Number(rows[0]!.count) > 0) counts.set(table, Number(rows[0]!.count))
    }
    return counts
  } finally {
    await client.end() // ends the transaction
  }
}

/**
 * Replaces the content of the database with that of an examined backup, and migrates it to this release, in one transaction.
 * Throws when the database has migrations that the backup lacks, or a service uses it; then nothing has changed.
 */
export async function restoreBackup(url: string, path: string, { migrations }: Backup): Promise<void> {
  const client = await connect(url)
  try {
    await client.query('BEGIN')
    const all = await readMigrations()
    const taken = all.filter(({ name }) => migrations.some((migration) => migration.name === name))
    requireNoOther(await migrationsOf(client), migrations)
    await applyMigrations(client, taken)
    await client.query(`${COPY_SETTINGS}; SET LOCAL lock_timeout = '10s'`)
    await load(client, path, await tablesOf(client, all))
    await applyMigrations(client, all)
    await requireUnused(client)
    await client.query('COMMIT')
  } finally {
    await client.end() // rolls back an open transaction
  }
}

/** Triggers would count the storage again, withdraw consents and give entries other versions: rows come back as they were. */
async function load(client: pg.Client, path: string, tables: readonly Section[]): Promise<void> {
  const names = tables.map(({ table }) => quoted(table))
  const forEachTable = (change: string) => names.map((name) => `ALTER TABLE ${name} ${change}`).join(';')
  await client.query(`TRUNCATE ${names.join(', ')}`)
  await client.query(forEachTable('DISABLE TRIGGER USER'))
  await readBackup(path, {
    async section(section, rows) {
      requireColumns(tables, section)
      await pipeline(rows, client.query(copyFrom(`COPY ${target(section)} FROM STDIN`)))
    },
  })
  await client.query(forEachTable('ENABLE TRIGGER USER'))
  for (const section of tables) await continueSequences(client, section)
  await client.query(`ANALYZE ${names.join(', ')}`)
}

/** Numbers that the database gives out go on after those that came back. */
async function continueSequences(client: pg.Client, { table, columns }: Section): Promise<void> {
  for (const column of columns) {
    const { rows } = await client.query<{ sequence: string | null }>(
      'SELECT pg_get_serial_sequence($1, $2) AS sequence',
      [quoted(table), column],
    )
    const { sequence } = rows[0]!
    if (sequence === null) continue
    const last = `SELECT setval($1::regclass, greatest(max(${quoted(column)}), 1), count(*) > 0) FROM ${quoted(table)}`
    await client.query(last, [sequence])
  }
}

function requireColumns(tables: readonly Section[], { table, columns }: Section) {
  const own = tables.find((candidate) => candidate.table === table)?.columns ?? []
  const missing = columns.filter((column) => !own.includes(column))
  if (own.length === 0 || missing.length > 0) {
    throw new Error(
      `The backup has ${[table, ...missing].join(' ')}, which is not of this service: nothing was restored.`,
    )
  }
}

function requireNoOther(present: Migrations, taken: Migrations) {
  const other = otherRelease(present, taken)
  if (other === null) return
  throw new Error(
    `Compared with the backup, the database ${other}: restore into a new database, which is then brought to this release.`,
  )
}

/** It would answer from memory what the database no longer has, and its worker would deliver twice. */
async function requireUnused(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'member-apps-api'`,
  )
  if (rows.length > 0) throw new Error('A service, a worker or a command uses the database: stop it first.')
}

const notComplete = (path: string, { code, message }: NodeJS.ErrnoException) =>
  code === 'ENOENT' ? new Error(`There is no file ${path}.`) : new Error(`${path} is no complete backup: ${message}.`)
