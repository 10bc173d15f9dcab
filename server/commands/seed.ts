import { seed } from '../../prisma/seed.ts'
import { memberScopesAt } from '../../routers/kernel/scopes.ts'
import { readSettings } from '../process/command-settings.ts'
import { flag, parseOptions } from './arguments.ts'
import { command } from './command.ts'
import { withDatabase } from './database.ts'

const usage = `Usage:
  npm run -s seed [-- --yes]

Loads the demo data into the database of DATABASE_URL, else into the embedded one. Existing rows are not changed,
except the times of the demo's events, which are moved to today. With NODE_ENV=production it requires --yes, as unknown
people and apps are unwanted there.
`

export const run = command(usage, async (argv, io) => {
  const { yes } = parseOptions(argv, { yes: flag })
  if (readSettings(io.env, 'production').production && !yes) {
    throw new Error(
      'Nothing was loaded: NODE_ENV is production, and the demo data contains people. --yes loads it anyway.',
    )
  }
  await withDatabase(io, (db) => seed(db, new Date(), memberScopesAt))
  io.stdout.write('The demo data is loaded.\n')
})
