import { expect, it } from 'vitest'
import { readFunctions, readMigrations } from '../../prisma/migration-files.ts'
import { emptyDatabase, migratedDatabase, query } from '../support/databases.ts'
import { run, succeeded } from './run.ts'

it('the migrate command brings a new database to this release and names the migrations, once', async () => {
  const env = { DATABASE_URL: await emptyDatabase() }
  const names = [await readMigrations(), await readFunctions()].flat(2).map(({ name }) => `Applied: ${name}\n`)
  expect(await run(['migrate'], env)).toEqual(succeeded(names.join('')))
  expect(await run(['migrate'], env)).toEqual(succeeded('The database is up to date.\n'))
})

it('migrate names the migration of another version that is unknown here', async () => {
  const DATABASE_URL = await migratedDatabase()
  await query(DATABASE_URL, `UPDATE "_prisma_migrations" SET migration_name = 'former_' || migration_name`)
  const { code, stderr } = await run(['migrate'], { DATABASE_URL })
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^The database of DATABASE_URL was made by another version of this service, whose migration former_\S+ .*\n$/,
  )
})
