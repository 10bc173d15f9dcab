import { seed } from '../../prisma/seed.ts'
import { memberScopesAt } from '../../routers/scopes.ts'
import { parseOptions } from './arguments.ts'
import { command } from './command.ts'
import { withDatabase } from './database.ts'

const usage = `Usage:
  npm run -s seed

Loads the demo data into the database of DATABASE_URL, else into the embedded one. Rows that exist stay as they are.
`

export const run = command(usage, async (argv, io) => {
  parseOptions(argv, {})
  await withDatabase(io, (db) => seed(db, new Date(), memberScopesAt))
  io.stdout.write('The demo data is loaded.\n')
})
