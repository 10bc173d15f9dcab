import { createWriteStream } from 'node:fs'
import { lstat, rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { otherRelease } from '../applied-migrations.ts'
import { readMigrations } from '../migration-files.ts'
import type { Section } from './file.ts'
import { backupText } from './file.ts'
import { COPY_SETTINGS, connect, migrationsOf, tablesOf, target } from './tables.ts'

/**
 * Writes a backup of the database, as it is at one moment, while services use it. The file appears when it is complete and
 * on disk; only its owner can read it. Throws when it exists, and when the database has no tables of the service or has
 * migrations that this release does not know.
 */
export async function writeBackup(url: string, path: string, takenAt: Date): Promise<void> {
  if (await lstat(path).catch(() => undefined)) throw new Error(`${path} exists.`)
  const draft = `${path}.incomplete`
  const client = await connect(url)
  try {
    await client.query(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; ${COPY_SETTINGS}`)
    const migrations = await migrationsOf(client)
    if (migrations.length === 0)
      throw new Error('There is nothing to back up: the database has no tables of the service.')
    const known = await readMigrations()
    const other = otherRelease(migrations, known)
    if (other !== null) throw new Error(`The database ${other}: use that release.`)
    const header = {
      format: 'member-apps-backup 1' as const,
      takenAt: takenAt.toISOString(),
      migrations,
      secretsKeyCheck: await secretsKeyCheckOf(client),
    }
    const text = backupText(header, await tablesOf(client, known), (section) => rowsOf(client, section))
    // Not what another user may have put there.
    await rm(draft, { force: true })
    await pipeline(text, createGzip(), createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true }))
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  } finally {
    await client.end()
  }
}

/**
 * The statements around COPY do nothing: on Deno it never ends unless it begins while the connection is busy, and ends
 * before the next statement, as pg-copy-streams takes the socket from pg and gives it back a tick late.
 */
async function* rowsOf(client: pg.Client, section: Section): AsyncGenerator<Buffer> {
  client.query('SELECT').catch(() => {}) // what fails it fails COPY
  const rows = client.query(copyTo(`COPY ${target(section)} TO STDOUT`))
  yield* rows
  await client.query('SELECT')
}

async function secretsKeyCheckOf(client: pg.Client): Promise<string | null> {
  const { rows } = await client.query<{ ciphertext: string }>('SELECT ciphertext FROM "SecretsKeyCheck"')
  return rows[0]?.ciphertext ?? null
}
