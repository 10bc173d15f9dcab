import { migrate } from '../../prisma/migrate.ts'
import { roleOf } from '../../prisma/session-limits.ts'
import { readSettings } from '../process/command-settings.ts'
import { parseOptions } from './arguments.ts'
import { command } from './command.ts'
import { withDatabaseUrl } from './database.ts'

const usage = `Usage:
  npm run -s migrate

Brings the database to this release, each migration in a transaction of its own, beside running services. Each start does
this as well, unless MIGRATE_ON_START is false.
`

export const run = command(usage, async (argv, io) => {
  parseOptions(argv, {})
  const { databaseUrl } = readSettings(io.env, 'databaseUrl')
  const role = databaseUrl === undefined ? undefined : roleOf(databaseUrl)
  const waits = () => void io.stderr.write('Another process migrates the database: waiting.\n')
  const applied = await withDatabaseUrl(io, (url) => migrate(url, { role, waits }))
  io.stdout.write(applied.map((name) => `Applied: ${name}\n`).join('') || 'The database is of this release.\n')
})
