import { execFile } from 'node:child_process'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { migrate } from '../../prisma/migrate.ts'
import { readMigrations } from '../../prisma/migration-files.ts'
import { prepareSchema } from '../../prisma/prepare-schema.ts'
import { temporaryDirectory } from '../process/embedded/servers.ts'
import { catalogueOf } from '../support/catalogue.ts'
import { emptyDatabase, query } from '../support/databases.ts'

/** The 24 migrations of the commit that is named to an older database. */
const former = fileURLToPath(new URL('migrations-before-1.0.tar.gz', import.meta.url))

/** A database of that commit, with some rows. */
async function formerDatabase() {
  const directory = await temporaryDirectory()
  await promisify(execFile)('tar', ['-xzf', former, '-C', directory])
  await mkdir(join(directory, 'prisma/functions/triggers'), { recursive: true })
  const url = await emptyDatabase()
  const names = await migrate(url, { directory: join(directory, 'prisma') })
  await query(
    url,
    `INSERT INTO "Organisation" VALUES ('club', 'club', 'C'), ('provider', 'provider', 'P');
     INSERT INTO "Team" VALUES ('team', 'T', 'hobby');
     INSERT INTO "App" (id, name, "teamId", "providerId") VALUES ('app', 'A', 'team', 'provider');
     SELECT storage_put('app', 'club', '', 'c', 'k', '"value"', gen_random_uuid(), now(), 1000, null, null)`,
  )
  return { url, names }
}

const namesIn = async (url: string) =>
  (await query(url, 'SELECT migration_name AS name FROM "_prisma_migrations" ORDER BY 1')).map(({ name }) => name)

const stored = (url: string) =>
  query(
    url,
    `SELECT value, usage.bytes::int, collection.entries::int FROM "StorageEntry", "StorageUsage" usage, "StorageCollection" collection`,
  )

it.each([
  ['member-apps migrate', migrate],
  ['a start that migrates', (url: string) => prepareSchema(url, { migrateOnStart: true })],
])(
  'a database of the release before is upgraded by %s: it has its rows, and the schema of a new one',
  async (_, upgrade) => {
    const { url, names } = await formerDatabase()
    expect(names).toHaveLength(24)
    await expect(prepareSchema(url, { migrateOnStart: false })).rejects.toThrow(
      /^MIGRATE_ON_START is false, and the database lacks the migration 20261125000000_before_1_0 and \d+ more: run/,
    )
    await upgrade(url)
    const fresh = await emptyDatabase()
    await migrate(fresh)
    expect(await catalogueOf(url)).toEqual(await catalogueOf(fresh))
    expect(await stored(url)).toEqual([{ value: '"value"', bytes: 7, entries: 1 }])
    // A node of the former release, which looks for its own, may start again.
    expect(await namesIn(url)).toEqual([...names, ...(await readMigrations()).map(({ name }) => name)])
    expect(await migrate(url)).toEqual([])
    await query(url, 'TRUNCATE "StorageEntry"')
    expect(await query(url, 'SELECT entries FROM "StorageCollection"')).toEqual([])
    // Nobody who has read changes goes on from them.
    expect(await query(url, 'SELECT changes = horizon AS begun, bytes::int, entries::int FROM "StorageUsage"')).toEqual(
      [{ begun: true, bytes: 0, entries: 0 }],
    )
    expect(await query(url, 'SELECT key FROM "StorageChange"')).toEqual([])
  },
)

it('a database that lacks a replaced migration, or has another version of one, is refused and not changed', async () => {
  const { url, names } = await formerDatabase()
  const [first, last] = [names[0], names.at(-1)]
  const before = await catalogueOf(url)
  await query(url, `UPDATE "_prisma_migrations" SET checksum = reverse(checksum) WHERE migration_name = '${first}'`)
  await expect(migrate(url)).rejects.toThrow(`Migration ${first} was edited after it had been applied`)

  await query(
    url,
    `UPDATE "_prisma_migrations" SET checksum = reverse(checksum) WHERE migration_name = '${first}';
     DELETE FROM "_prisma_migrations" WHERE migration_name = '${last}'`,
  )
  const sentence =
    `Migration ${last} is not applied, and this release no longer has it: ` +
    'first run `member-apps migrate` of the commit 435c6291 (docs/upgrades.md#from-before-10).'
  await expect(migrate(url)).rejects.toThrow(sentence)
  await expect(prepareSchema(url, { migrateOnStart: false })).rejects.toThrow(sentence)
  expect(await namesIn(url)).toEqual(names.slice(0, -1))
  expect(await catalogueOf(url)).toEqual(before)
  const page = await readFile(new URL('../../docs/upgrades.md', import.meta.url), 'utf8')
  expect(page.split('\n## From before 1.0\n')[1]).toContain('`435c6291`')
})
