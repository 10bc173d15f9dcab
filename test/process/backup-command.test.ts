import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import type { Section } from '../../prisma/backup/file.ts'
import { backupText } from '../../prisma/backup/file.ts'
import { applyMigrations } from '../../prisma/migrate.ts'
import { readMigrations } from '../../prisma/migration-files.ts'
import { createCipher } from '../../server/secrets/cipher.ts'
import { checkSecretsKey } from '../../server/secrets/keys.ts'
import { contentOf } from '../commands/database-content.ts'
import { filledDatabase } from '../commands/filled-database.ts'
import { failed, misused, run } from '../commands/run.ts'
import { addEntries } from '../commands/stored-entries.ts'
import { direct } from '../support/addresses.ts'
import { emptyDatabase, migratedDatabase, query } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'
import { openTestDatabase } from '../support/test-database.ts'

const SECRETS_KEY = randomBytes(32).toString('base64')
const nowhere = { DATABASE_URL: 'postgresql://127.0.0.1:1/nothing' }

/** Texts in which COPY and gzip could lose something, or find an end. */
const texts = [
  '\\.',
  '\\.\n',
  '\n\\.\n',
  '\t',
  '\\N',
  '\\',
  '\r\n',
  '\u0001',
  '\u{1f3c5}',
  '"',
  '{a,b}',
  '',
  ' ',
  'x'.repeat(70_000),
]
const values = [...texts.map((text) => JSON.stringify(text)), '"\\u0000"', '1e400', ' {"a" : 1.0}\n', '"\\ud800"']

/** Rows of every kind of column, and rows whose triggers have an effect. */
async function addRows(url: string) {
  await addEntries(url)
  const client = pgClient(url)
  await client.connect()
  try {
    for (const [index, value] of values.entries()) {
      await client.query(
        `SELECT storage_put('trainer-app', 'riverside', 'anna', 'values', $1, $2, gen_random_uuid(), '2026-02-03T04:05:06.789Z', 100000000, NULL, NULL)`,
        [`k${index}`, value],
      )
    }
    for (const [index, text] of texts.entries()) {
      await client.query(`INSERT INTO "OauthRecord" (model, id, payload) VALUES ('Session', $1, $2)`, [
        `s${index}`,
        { text },
      ])
    }
    await client.query(`UPDATE "MemberCard" SET departments = $1`, [texts.filter((text) => text.length < 100)])
    await client.query(`UPDATE "CompetitionResult" SET score = 0.1::float8 + 0.2::float8`)
    await client.query(
      `INSERT INTO "Consent" (id, "personId", "organisationId", "clientId", scopes)
       VALUES ('consent', 'anna', 'riverside', 'trainer-app', '{svc.me.profile:read}')`,
    )
  } finally {
    await client.end()
  }
}

const backup = (file: string, env: Record<string, string>) => run(['backup', file], { SECRETS_KEY, ...env })
const restore = (file: string, env: Record<string, string>, ...more: string[]) =>
  run(['restore', file, '--nothing-to-repeat', ...more], { SECRETS_KEY, ...env })

async function directory() {
  const path = await mkdtemp(join(tmpdir(), 'member-apps-backup-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

describe('the backup and restore commands', () => {
  const env = filledDatabase()
  let folder: string
  let file: string

  beforeEach(async () => {
    await query(env.DATABASE_URL, 'DELETE FROM "OauthRecord"; DELETE FROM "SecretsKeyCheck"')
    await addRows(env.DATABASE_URL)
    const db = openTestDatabase(env.DATABASE_URL)
    await checkSecretsKey(db, createCipher([Buffer.from(SECRETS_KEY, 'base64')])).finally(() => db.$disconnect())
    folder = await directory()
    file = join(folder, 'today')
  })

  /** A complete backup with another header. */
  async function withHeader(change: Record<string, unknown>) {
    const [first, ...rest] = gunzipSync(await readFile(file))
      .toString()
      .split('\n')
    const header = { ...JSON.parse(first!), ...change }
    const sections: [Section, Buffer][] = []
    for (const part of rest
      .slice(0, -2)
      .join('\n')
      .split(/(?<=\n|^)\\\.(?:\n|$)/)) {
      const [head, ...rows] = part.split('\n')
      if (head) sections.push([JSON.parse(head), Buffer.from(rows.join('\n'))])
    }
    const rowsOf = async function* (section: Section) {
      yield sections.find(([candidate]) => candidate === section)![1]
    }
    const chunks: Buffer[] = []
    for await (const chunk of backupText(
      header,
      sections.map(([section]) => section),
      rowsOf,
    ))
      chunks.push(chunk)
    await writeFile(file, gzipSync(Buffer.concat(chunks)))
  }

  it('bring every row back as it was, into a new database', async () => {
    const before = await contentOf(env.DATABASE_URL)
    const rows = Object.values(before).flat().length
    const { size, mode } = await backup(file, env).then(async (taken) => {
      expect(taken).toEqual({
        code: 0,
        stdout: expect.stringContaining(`read back: ${file}, ${rows} rows, `),
        stderr: '',
      })
      expect(taken.stdout).toContain('A restore needs the same key; keep it elsewhere: SECRETS_KEY\n')
      return stat(file)
    })
    expect([mode & 0o777, size > 0, await readdir(folder)]).toEqual([0o600, true, ['today']])

    const DATABASE_URL = await emptyDatabase()
    // NODES needs REDIS_URL, and a restore needs neither.
    expect(await restore(file, { DATABASE_URL, NODES: '2' })).toEqual({
      code: 0,
      stdout: expect.stringMatching(new RegExp(`^Restored: ${rows} rows of \\d{4}-.*Z\n$`)),
      stderr: '',
    })
    expect(await contentOf(DATABASE_URL)).toEqual(before)
    expect(Object.keys(before)).toContain('StorageEntry')
  })

  it('leave a database that gives its audit entries the next numbers', async () => {
    const add = (url: string) =>
      query(
        url,
        `INSERT INTO "AuditEntry" ("teamId", action, target, at) VALUES ('builders', 'a', 't', now()) RETURNING id`,
      )
    await add(env.DATABASE_URL)
    const [last] = await add(env.DATABASE_URL)
    await backup(file, env)
    const DATABASE_URL = await emptyDatabase()
    await restore(file, { DATABASE_URL })
    expect(await add(DATABASE_URL)).toEqual([{ id: String(Number(last!.id) + 1) }])
  })

  it('leave a database whose triggers count the storage and refuse a wrong counter', async () => {
    await backup(file, env)
    const DATABASE_URL = await emptyDatabase()
    await restore(file, { DATABASE_URL })
    const bytes = async () =>
      (
        await query(
          DATABASE_URL,
          `SELECT bytes FROM "StorageUsage" WHERE "appId" = 'hobby-app' AND "clubId" = 'riverside'`,
        )
      )[0]
    expect(await bytes()).toEqual({ bytes: '3' })
    await query(DATABASE_URL, `UPDATE "StorageEntry" SET value = '"longer"' WHERE "appId" = 'hobby-app'`)
    expect(await bytes()).toEqual({ bytes: '8' })
    await expect(query(DATABASE_URL, 'UPDATE "StorageUsage" SET bytes = bytes + 1')).rejects.toThrow(
      'The usage of a store',
    )
  })

  it('bring a backup of an older release to this one, in a new database', async () => {
    const old = await emptyDatabase()
    const client = pgClient(old)
    await client.connect()
    await client.query('BEGIN')
    await applyMigrations(client, (await readMigrations()).slice(0, 1))
    await client.query('COMMIT')
    await client.query(`INSERT INTO "Organisation" (id, kind, name) VALUES ('riverside', 'club', 'Riverside')`)
    await client.end()
    await backup(file, { DATABASE_URL: old })

    const DATABASE_URL = await emptyDatabase()
    expect(await restore(file, { DATABASE_URL })).toMatchObject({ code: 0, stderr: '' })
    expect((await contentOf(DATABASE_URL)).Organisation).toHaveLength(1)
    expect(await run(['migrate'], { DATABASE_URL })).toMatchObject({ stdout: 'The database is of this release.\n' })

    const current = await migratedDatabase()
    const refused = await restore(file, { DATABASE_URL: current }, '--yes')
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('restore into a new database'),
    })
    expect(await contentOf(current)).toEqual({})
  })

  it('replace rows only with --yes, or after a confirmation on a terminal', async () => {
    await backup(file, env)
    const before = await contentOf(env.DATABASE_URL)
    await query(env.DATABASE_URL, `UPDATE "Person" SET "firstName" = 'Changed'; DELETE FROM "StorageEntry"`)
    const changed = await contentOf(env.DATABASE_URL)
    const refused = await restore(file, env)
    expect(refused).toEqual(failed('Nothing was removed: without a terminal to confirm on, --yes is needed.\n'))
    for (const typed of ['yes\n', '']) {
      const { code, stdout } = await run(['restore', file, '--nothing-to-repeat'], { SECRETS_KEY, ...env }, { typed })
      expect([code, stdout]).toEqual([1, expect.stringContaining('To be removed from the database, rows:\n  ')])
    }
    expect(await contentOf(env.DATABASE_URL)).toEqual(changed)

    const typed = { typed: 'restore\n' }
    expect(await run(['restore', file, '--nothing-to-repeat'], { SECRETS_KEY, ...env }, typed)).toMatchObject({
      code: 0,
    })
    expect(await contentOf(env.DATABASE_URL)).toEqual(before)
    await query(env.DATABASE_URL, `UPDATE "Person" SET "firstName" = 'Changed'`)
    expect(await restore(file, env, '--yes')).toMatchObject({ code: 0 })
    expect(await contentOf(env.DATABASE_URL)).toEqual(before)
  })

  it('refuse a file that is cut, changed, empty or of something else, and change nothing', async () => {
    await backup(file, env)
    const whole = await readFile(file)
    const text = gunzipSync(whole)
    const lines = text.toString().split('\n')
    const cuts = [0, 1, 10, whole.length >> 1, whole.length - 9, whole.length - 1].map((end) => whole.subarray(0, end))
    const flips = [200, whole.length >> 1, whole.length - 6].map((at) => {
      const copy = Buffer.from(whole)
      copy[at]! ^= 1
      return copy
    })
    const wholeGzip = [
      text.subarray(0, text.indexOf('\n{"rows"') + 1),
      Buffer.from(text.toString().replace('Berger', 'Burger')),
      Buffer.from([...lines.slice(0, 5), ...lines.slice(6)].join('\n')),
      Buffer.concat([text, Buffer.from('more\n')]),
      Buffer.from('{"format":"another"}\n'),
      Buffer.from('hello\n'),
    ].map((content) => gzipSync(content))
    const DATABASE_URL = await emptyDatabase()
    for (const content of [...cuts, ...flips, ...wholeGzip, Buffer.from('hello\n')]) {
      await writeFile(file, content)
      const { code, stdout, stderr } = await restore(file, { DATABASE_URL }, '--yes')
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(new RegExp(`^${file} is no complete backup: [^\\n]+\\.\n$`))
    }
    expect(await restore(join(folder, 'none'), nowhere)).toEqual(failed(`There is no file ${join(folder, 'none')}.\n`))
    expect(await query(DATABASE_URL, `SELECT FROM pg_class WHERE relname = 'Person'`)).toEqual([])
  })

  it('refuse a backup of a newer release or of edited migrations, and change nothing', async () => {
    await backup(file, env)
    const migrations = (await readMigrations()).map(({ name, checksum }) => ({ name, checksum }))
    const cases: [object[], string][] = [
      [
        [...migrations, { name: '20990101000000_later', checksum: 'abc' }],
        'is of a newer release, with the migration 20990101000000_later',
      ],
      [
        [...migrations.slice(1), { name: '20250101000000_first', checksum: 'abc' }],
        'is of another release, with the migration 20250101000000_first',
      ],
      [
        [{ ...migrations[0], checksum: 'abc' }, ...migrations.slice(1)],
        `has another version of the migration ${migrations[0]!.name}`,
      ],
    ]
    const before = await contentOf(env.DATABASE_URL)
    for (const [changed, message] of cases) {
      await withHeader({ migrations: changed })
      const refused = await restore(file, env, '--yes')
      expect(refused).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(message) })
    }
    expect(await contentOf(env.DATABASE_URL)).toEqual(before)
    await withHeader({ migrations })
    expect(await restore(file, env, '--yes')).toMatchObject({ code: 0 })
  })

  it('leave the tables of others in the same schema alone', async () => {
    await query(env.DATABASE_URL, 'CREATE TABLE others AS SELECT 1 AS x')
    onTestFinished(async () => {
      await query(env.DATABASE_URL, 'DROP TABLE others')
    })
    await backup(file, env)
    await query(env.DATABASE_URL, 'INSERT INTO others VALUES (2)')
    expect(await restore(file, env, '--yes')).toMatchObject({ code: 0, stdout: expect.not.stringContaining('others') })
    expect(await query(env.DATABASE_URL, 'SELECT x FROM others ORDER BY 1')).toEqual([{ x: 1 }, { x: 2 }])
    const DATABASE_URL = await emptyDatabase()
    expect(await restore(file, { DATABASE_URL })).toMatchObject({ code: 0 })
    expect(await query(DATABASE_URL, `SELECT FROM pg_class WHERE relname = 'others'`)).toEqual([])
  })

  it.each([
    ['a newer', '20990101000000_later', ''],
    ['another', '20250101000000_first', `DELETE FROM "_prisma_migrations" WHERE migration_name LIKE '20261122%'`],
  ])('refuse to back up a database of %s release', async (which, name, removal) => {
    const DATABASE_URL = await migratedDatabase()
    await query(
      DATABASE_URL,
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at) VALUES ('x', 'x', '${name}', now());${removal}`,
    )
    const message = `The database is of ${which} release, with the migration ${name}: use that release.\n`
    expect(await backup(file, { DATABASE_URL })).toEqual(failed(message))
    expect(await readdir(folder)).toEqual([])
  })

  it('refuse a missing or wrong SECRETS_KEY before anything changes, unless the key is lost', async () => {
    await backup(file, env)
    const DATABASE_URL = await emptyDatabase()
    const other = randomBytes(32).toString('base64')
    const DATA_DIR = join(folder, 'data')
    const wrong = await restore(file, { DATABASE_URL, SECRETS_KEY: other })
    expect(wrong).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('SECRETS_KEY does not decrypt'),
    })
    const missing = await restore(file, { DATABASE_URL, SECRETS_KEY: '', DATA_DIR })
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`copy its file to ${DATA_DIR}/secrets-key`),
    })
    expect(await query(DATABASE_URL, `SELECT FROM pg_class WHERE relname = 'Person'`)).toEqual([])
    expect(await readdir(folder)).toEqual(['today'])

    const rotated = await restore(file, { DATABASE_URL, SECRETS_KEY: `${other},${SECRETS_KEY}` })
    expect(rotated).toMatchObject({ code: 0 })
    expect(await restore(file, { DATABASE_URL, SECRETS_KEY: other }, '--yes', '--lost-key')).toMatchObject({ code: 0 })
  })

  it('refuse a restore while a service uses the database, and change nothing', async () => {
    await backup(file, env)
    const before = await contentOf(env.DATABASE_URL)
    const db = openTestDatabase(env.DATABASE_URL)
    onTestFinished(() => db.$disconnect())
    await db.person.count()
    // Behind PgBouncer the session of the service would be given to the restore.
    const refused = await restore(file, { ...env, DATABASE_DIRECT_URL: direct(env.DATABASE_URL) }, '--yes')
    expect(refused).toEqual(failed('A service, a worker or a command uses the database: stop it first.\n'))
    expect(await contentOf(env.DATABASE_URL)).toEqual(before)
  })

  it('never write over a file, and leave none when they fail', async () => {
    await writeFile(file, 'yesterday')
    expect(await backup(file, env)).toEqual(failed(`${file} exists.\n`))
    expect(await readFile(file, 'utf8')).toBe('yesterday')
    const fresh = join(folder, 'fresh')
    const empty = await backup(fresh, { DATABASE_URL: await emptyDatabase() })
    expect(empty).toEqual(failed('There is nothing to back up: the database has no tables of the service.\n'))
    expect(await backup(fresh, nowhere)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The database cannot be used: /),
    })
    expect((await backup(join(folder, 'none', 'fresh'), env)).code).toBe(1)
    expect(await readdir(folder)).toEqual(['today'])
  })

  it.each(['backup', 'restore'])('%s needs one file', async (name) => {
    expect(await run([name], nowhere)).toEqual(misused('One file is needed.'))
    expect(await run([name, 'one', 'two'], nowhere)).toEqual(misused('One file is needed.'))
    expect(await run([name, 'one', '--colour'], nowhere)).toEqual(misused("Unknown option '--colour'"))
  })
})

it('each sequence belongs to a column, from whose values a restore continues it', async () => {
  const others = `SELECT relname FROM pg_class WHERE relkind = 'S'
    AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype IN ('a', 'i'))`
  expect(await query(await migratedDatabase(), others)).toEqual([])
})

describe('the migrate command', () => {
  it('brings a new database to this release and names the migrations, once', async () => {
    const env = { DATABASE_URL: await emptyDatabase() }
    const names = (await readMigrations()).map(({ name }) => `Applied: ${name}\n`)
    expect(await run(['migrate'], env)).toEqual({ code: 0, stdout: names.join(''), stderr: '' })
    expect(await run(['migrate'], env)).toEqual({ code: 0, stdout: 'The database is of this release.\n', stderr: '' })
    expect(await run(['migrate'], nowhere)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The database cannot be used: /),
    })
  })
})
