import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { contentOf } from '../commands/database-content.ts'
import { filledDatabase } from '../commands/filled-database.ts'
import { run } from '../commands/run.ts'
import { addEntries } from '../commands/stored-entries.ts'
import { direct } from '../support/addresses.ts'
import { emptyDatabase, query } from '../support/databases.ts'

const execute = promisify(execFile)
const lacks = !process.env.TEST_DATABASE_URL || spawnSync('pg_restore', ['--version']).status !== 0
const skipReason = lacks ? ' (skipped: needs TEST_DATABASE_URL, pg_dump and pg_restore)' : ''

const env = filledDatabase()

it.skipIf(lacks)(`pg_restore brings back what pg_dump took: rows, numbers, triggers${skipReason}`, async () => {
  const addAudit = (url: string) =>
    query(
      url,
      `INSERT INTO "AuditEntry" ("teamId", action, target, at) VALUES ('builders', 'a', 't', now()) RETURNING id`,
    )
  const usage = (url: string) =>
    query(url, `SELECT bytes FROM "StorageUsage" WHERE "appId" = 'hobby-app' AND "clubId" = 'riverside'`)
  await addEntries(env.DATABASE_URL)
  const [last] = await addAudit(env.DATABASE_URL)
  const before = await contentOf(env.DATABASE_URL)
  const folder = await mkdtemp(join(tmpdir(), 'member-apps-dump-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const [file, DATABASE_URL] = [join(folder, 'dump'), await emptyDatabase()]
  await execute('pg_dump', ['--format=custom', `--file=${file}`, direct(env.DATABASE_URL)])
  const restore = () =>
    execute('pg_restore', ['--single-transaction', '--no-owner', `--dbname=${direct(DATABASE_URL)}`, file])
  await restore()
  expect(await contentOf(DATABASE_URL)).toEqual(before)
  expect(Object.keys(before)).toEqual(expect.arrayContaining(['AuditEntry', 'MemberCard', 'StorageEntry']))

  expect(await run(['migrate'], { DATABASE_URL })).toMatchObject({ stdout: 'The database is up to date.\n' })
  expect(await query(DATABASE_URL, 'SHOW statement_timeout', { limited: true })).toEqual([{ statement_timeout: '5s' }])
  expect(await addAudit(DATABASE_URL)).toEqual([{ id: String(Number(last!.id) + 1) }])
  expect(await usage(DATABASE_URL)).toEqual([{ bytes: '3' }])
  await query(DATABASE_URL, `UPDATE "StorageEntry" SET value = '"longer"' WHERE "appId" = 'hobby-app'`)
  expect(await usage(DATABASE_URL)).toEqual([{ bytes: '8' }])
  await expect(query(DATABASE_URL, 'UPDATE "StorageUsage" SET bytes = bytes + 1')).rejects.toThrow(
    'The usage of a store',
  )

  const used = await contentOf(DATABASE_URL)
  await expect(restore()).rejects.toThrow('already exists')
  expect(await contentOf(DATABASE_URL)).toEqual(used)
})
