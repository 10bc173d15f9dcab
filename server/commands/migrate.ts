import { migrate } from '../../prisma/migrate.ts'
import { roleOf } from '../../prisma/session-limits.ts'
import { readSettings } from '../process/command-settings.ts'
import { parseOptions } from './arguments.ts'
import { command } from './command.ts'
import { withDatabaseUrl } from './database.ts'

const usage = `Usage:
  npm run -s migrate

Migrates the database to this release, each migration in its own transaction, while services run. Each start does
this as well, unless MIGRATE_ON_START is false.
`

export const run = command(usage, async (argv, io) => {
  parseOptions(argv, {})
  const { databaseUrl } = readSettings(io.env, 'databaseUrl')
  const role = databaseUrl === undefined ? undefined : roleOf(databaseUrl)
  const waits = () => void io.stderr.write('Another process is migrating the database: waiting.\n')
  const applied = await withDatabaseUrl(io, (url) => migrate(url, { role, waits }))
  io.stdout.write(applied.map((name) => `Applied: ${name}\n`).join('') || 'The database is up to date.\n')
})
