import { stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { startEmbedded } from '../../prisma/embedded/start.ts'
import { migrate } from '../../prisma/migrate.ts'
import { migratedDatabase, query } from '../support/databases.ts'
import { listenLocally } from '../support/local-server.ts'
import {
  command,
  dataDirectory,
  dataDirectoryWithCluster,
  dataDirectoryWithDemo,
  findPostgres,
  freePort,
  launch,
  start,
} from './service.ts'

describe('a start fails with one message and leaves nothing running', () => {
  it.each(['PORT', 'INTERNAL_PORT'])('when another process uses %s', async (name) => {
    const [DATA_DIR, port] = [await dataDirectoryWithDemo(), await occupiedPort()]
    const message = new RegExp(`^Cannot listen on port ${port}: another process uses it. ${name}=(\\d+) is free.\n$`)
    const said = await refused({ DATA_DIR, [name]: String(port) })
    expect(said).toMatch(message)
    expect(Number(message.exec(said)![1])).toBeGreaterThan(port)
    expect(await findPostgres(DATA_DIR)).toBe(0)
  })

  it('for an unknown argument, with the usage', async () => {
    const { ended } = await launch({ DATA_DIR: await dataDirectory() }, { args: ['--prot', '1'] })
    const usage = /^Unknown option '--prot'\n\(Did you mean --port\?\)\n\nUsage: member-apps start /
    expect(await ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(usage) })
  })

  it('when --port is taken, or no port', async () => {
    const [DATA_DIR, port] = [await dataDirectoryWithDemo(), await occupiedPort()]
    expect(await refused({ DATA_DIR }, ['--port', String(port)])).toMatch(`Cannot listen on port ${port}: `)
    expect(await refused({ DATA_DIR }, ['--port', 'many'])).toMatch('\n  PORT: "many" is not a port')
  })

  it('when DATA_DIR is a file and the database is external', async () => {
    const DATA_DIR = join(await dataDirectory(), 'file')
    await writeFile(DATA_DIR, '')
    const said = await refused({ DATA_DIR, DATABASE_URL: inject('databaseUrl') })
    expect(said).toMatch(/^DATA_DIR cannot be used: .*\n$/)
  })

  it.each(['127.0.0.1', 'localhost'])('when nothing listens at DATABASE_URL (%s)', async (host) => {
    const [DATA_DIR, port] = [await dataDirectory(), await freePort()]
    const said = await refused({ DATA_DIR, DATABASE_URL: `postgresql://user:canary@${host}:${port}/db` })
    expect(said).toMatch(/^The database cannot be used: .*ECONNREFUSED.*\n$/)
    expect(said).not.toContain('canary')
  })

  it('when the server at DATABASE_URL never answers', async () => {
    const [DATA_DIR, port] = [await dataDirectory(), await occupiedPort()]
    const said = await refused({ DATA_DIR, DATABASE_URL: `postgresql://user:canary@127.0.0.1:${port}/db` })
    expect(said).toMatch(/^The database cannot be used: .*timeout.*\n$/i)
  })

  it('when the password in DATABASE_URL is wrong', async () => {
    // The server of the tests may take any.
    const server = await startEmbedded(await dataDirectoryWithDemo())
    onTestFinished(() => server.stop())
    const url = new URL(server.url)
    url.password = 'canary'
    const said = await refused({ DATA_DIR: await dataDirectory(), DATABASE_URL: url.href })
    expect(said).toMatch(/^The database cannot be used: password authentication failed for user .*\n$/)
    expect(said).not.toContain('canary')
  })
})

/** What a service said that did not come up. */
async function refused(env: Record<string, string>, args: readonly string[] = []): Promise<string> {
  const { code, signal, stdout, stderr } = await (await launch(env, { args })).ended
  expect([code, signal]).toEqual([1, null])
  // The log may have warned before.
  const others = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('{'))
  expect(others).toEqual([])
  return stderr
}

/** A port on which somebody listens who never answers. */
const occupiedPort = () => listenLocally(createServer())

/** As another version of the service would have left it, whose first migration reads otherwise. */
const makeForeign = async (url: string) => {
  const [{ name }] = await query(url, `SELECT min(migration_name) AS name FROM "_prisma_migrations"`)
  await query(url, `UPDATE "_prisma_migrations" SET checksum = 'other' WHERE migration_name = '${name}'`)
  return name as string
}

const migrations = (url: string) => query(url, 'SELECT * FROM "_prisma_migrations" ORDER BY migration_name')

describe('data of another version', () => {
  it('in the embedded database stop the start with what to do in one line, and stay as they are', async () => {
    const DATA_DIR = await dataDirectoryWithCluster()
    const embedded = await startEmbedded(DATA_DIR)
    await migrate(embedded.url)
    const name = await makeForeign(embedded.url)
    const before = await migrations(embedded.url)
    await embedded.stop()

    const { code, stdout, stderr } = await (await launch({ DATA_DIR })).ended
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toBe(
      `The data in ${embedded.directory} was made by another version of this service, whose migration ${name} ` +
        'differs: delete that directory to start with new data, or run that version to keep it.\n',
    )
    expect(await findPostgres(DATA_DIR)).toBe(0)
    await stat(embedded.directory)
    const again = await startEmbedded(DATA_DIR)
    expect(await migrations(again.url)).toEqual(before)
    await again.stop()
  })

  it('in the database of DATABASE_URL stop the service and the commands likewise', async () => {
    const DATABASE_URL = await migratedDatabase()
    const name = await makeForeign(DATABASE_URL)
    const before = await migrations(DATABASE_URL)
    const env = { DATA_DIR: await dataDirectory(), DATABASE_URL }
    const line =
      `The database of DATABASE_URL was made by another version of this service, whose migration ${name} differs: ` +
      'run that version, restore that migration and write a new one, or use an empty database.\n'
    expect(await (await launch(env)).ended).toMatchObject({ code: 1, stderr: line })
    expect(await command('client', ['list'], env).ended).toMatchObject({ code: 1, stdout: '', stderr: line })
    expect(await migrations(DATABASE_URL)).toEqual(before)
  })
})

describe('with MIGRATE_ON_START=false', () => {
  it('a start and a command refuse an older database in one sentence, and member-apps migrate brings it to this release', async () => {
    const DATABASE_URL = await migratedDatabase()
    await query(
      DATABASE_URL,
      `UPDATE "_functions" SET checksum = 'older' WHERE name IN ('functions/storage_write.sql', 'functions/storage_delete.sql')`,
    )
    const env = { DATABASE_URL, DATA_DIR: await dataDirectory(), MIGRATE_ON_START: 'false' }
    const sentence =
      'The database cannot be used: MIGRATE_ON_START is false, and the database lacks functions/storage_delete.sql and 1 more: ' +
      'run `member-apps migrate` first.\n'
    expect(await (await launch(env)).ended).toMatchObject({ code: 1, stderr: sentence })
    expect(await command('clean', [], env).ended).toMatchObject({ code: 1, stdout: '', stderr: sentence })
    expect(await command('migrate', [], env).ended).toMatchObject({
      code: 0,
      stdout: 'Applied: functions/storage_delete.sql\nApplied: functions/storage_write.sql\n',
    })
    const service = await start(env)
    expect(await service.stop()).toMatchObject({ code: 0, stderr: '' })
  })

  it('or without, a database of a newer release is used, and one line says so', async () => {
    const DATABASE_URL = await migratedDatabase()
    await query(
      DATABASE_URL,
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, finished_at) VALUES ('x', 'x', '20990101000000_later', now())`,
    )
    const env = { DATABASE_URL, DATA_DIR: await dataDirectory() }
    for (const MIGRATE_ON_START of ['false', 'true']) {
      const service = await start({ ...env, MIGRATE_ON_START })
      // The log is written up to 100 ms later than what `start` waits for.
      const { stdout } = await service.stop()
      expect(stdout.match(/.*20990101000000_later.*/g)).toEqual([
        expect.stringContaining('the database is of a newer release: it has the migration 20990101000000_later'),
      ])
    }
  })
})
