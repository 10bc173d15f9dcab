import { describe, expect, it } from 'vitest'
import { migratedDatabase, query } from '../support/databases.ts'
import { command, dataDirectory, launch, start } from './service.ts'

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
      const lines = service.stdout().match(/.*20990101000000_later.*/g)
      expect(lines).toEqual([
        expect.stringContaining('the database is of a newer release: it has the migration 20990101000000_later'),
      ])
      await service.stop()
    }
  })
})
