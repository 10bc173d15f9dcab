import type pg from 'pg'
import type { SqlFile } from './migration-files.ts'
import { release } from './release.ts'

/** A file without a checksum is the operator's (deploy/citus.sql), and stays as it is. */
const TABLE = `CREATE TABLE IF NOT EXISTS "_functions" (name TEXT PRIMARY KEY, checksum TEXT, release TEXT NOT NULL)`

export interface AppliedFunction {
  name: string
  checksum: string | null
  /** The version of this service that applied it. */
  release: string
}

export async function readAppliedFunctions(client: pg.Client): Promise<AppliedFunction[]> {
  const table = await client.query(`SELECT to_regclass('"_functions"') IS NOT NULL AS exists`)
  return table.rows[0].exists ? (await client.query<AppliedFunction>('SELECT * FROM "_functions"')).rows : []
}

/** A node of the former release, which starts beside those of a newer one, leaves the functions of that one. */
export const isNewer = (applied: AppliedFunction) => applied.release.localeCompare(release, 'en', { numeric: true }) > 0

export const changedAmong = (files: readonly SqlFile[], applied: readonly AppliedFunction[]) =>
  files.filter(({ name, checksum }) => {
    const row = applied.find((candidate) => candidate.name === name)
    return !row || (row.checksum !== null && row.checksum !== checksum && !isNewer(row))
  })

export async function recordFunctions(client: pg.Client, files: readonly SqlFile[]): Promise<void> {
  await client.query(TABLE)
  await client.query(
    `INSERT INTO "_functions" SELECT *, $3 FROM unnest($1::text[], $2::text[])
     ON CONFLICT (name) DO UPDATE SET checksum = EXCLUDED.checksum, release = EXCLUDED.release`,
    [files.map(({ name }) => name), files.map(({ checksum }) => checksum), release],
  )
}
