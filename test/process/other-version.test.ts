import { stat } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { startEmbedded } from '../../prisma/embedded/start.ts'
import { migrate } from '../../prisma/migrate.ts'
import { migratedDatabase, query } from '../support/databases.ts'
import { command, dataDirectory, dataDirectoryWithCluster, launch, postgresOf } from './service.ts'

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
    expect(await postgresOf(DATA_DIR)).toBe(0)
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
