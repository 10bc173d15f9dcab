import { expect, it } from 'vitest'
import { readFunctions, readMigrations } from '../../prisma/migration-files.ts'
import { emptyDatabase } from '../support/databases.ts'
import { run, succeeded } from './run.ts'

it('the migrate command brings a new database to this release and names the migrations, once', async () => {
  const env = { DATABASE_URL: await emptyDatabase() }
  const names = [await readMigrations(), await readFunctions()].flat(2).map(({ name }) => `Applied: ${name}\n`)
  expect(await run(['migrate'], env)).toEqual(succeeded(names.join('')))
  expect(await run(['migrate'], env)).toEqual(succeeded('The database is of this release.\n'))
})
