import { migrate } from '../../../prisma/migrate.ts'
import { readRole } from '../../../prisma/session-limits.ts'
import { readSettings } from '../../process/command-settings.ts'
import type { Command } from '../line/command.ts'
import { action } from '../line/command.ts'
import { withDatabaseUrl } from '../line/database.ts'

const migrateDatabase = action(
  {
    async run(_values, io) {
      const { databaseUrl } = readSettings(io.env, 'databaseUrl')
      const role = databaseUrl === undefined ? undefined : readRole(databaseUrl)
      const waits = () => void io.stderr.write('Another process is migrating the database: waiting.\n')
      return { applied: await withDatabaseUrl(io, (url) => migrate(url, { role, waits })) }
    },
  },
  {
    json: '{ applied }',
    text: ({ applied }) => applied.map((name) => `Applied: ${name}\n`).join('') || 'The database is up to date.\n',
  },
)

export const command: Command = {
  about: `Migrates the database to this release, each migration in its own transaction, while services run. Each start does
this as well, unless MIGRATE_ON_START is false.`,
  actions: { '': migrateDatabase },
  examples: ['migrate', 'migrate --json'],
}
