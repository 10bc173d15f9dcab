import { migrate } from '../../prisma/migrate.ts'
import { roleOf } from '../../prisma/session-limits.ts'
import { readConfig } from '../process/config.ts'
import { parseOptions } from './arguments.ts'
import { command } from './command.ts'
import { withDatabaseUrl } from './database.ts'

const usage = `Usage:
  npm run -s migrate

Brings the database to this release, in one transaction. Each start does this as well.
`

export const run = command(usage, async (argv, io) => {
  parseOptions(argv, {})
  const { databaseUrl } = readConfig(io.env)
  const role = databaseUrl === undefined ? undefined : roleOf(databaseUrl)
  const applied = await withDatabaseUrl(io, (url) => migrate(url, undefined, role))
  io.stdout.write(applied.map((name) => `Applied: ${name}\n`).join('') || 'The database is of this release.\n')
})
