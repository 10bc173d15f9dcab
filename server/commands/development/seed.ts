import { seed } from '../../../prisma/seed.ts'
import { memberScopesAt } from '../../../routers/kernel/scopes.ts'
import { readSettings } from '../../process/command-settings.ts'
import type { Command } from '../line/command.ts'
import { action } from '../line/command.ts'
import { withDatabase } from '../line/database.ts'

const load = action(
  {
    declare: (line) => line.option('--yes', 'loads it in production too'),
    async run({ yes }, io) {
      if (readSettings(io.env, 'production').production && !yes) {
        throw new Error(
          'Nothing was loaded: NODE_ENV is production, and the demo data contains people. --yes loads it anyway.',
        )
      }
      await withDatabase(io, (db) => seed(db, new Date(), memberScopesAt))
      return { loaded: true }
    },
  },
  { json: '{ loaded }', text: () => 'The demo data is loaded.\n' },
)

export const command: Command = {
  about: `Loads the demo data into the database of DATABASE_URL, else into the embedded one. Existing rows are not changed,
except the times of the demo's events, which are moved to today. With NODE_ENV=production it requires --yes, as unknown
people and apps are unwanted there.`,
  actions: { '': load },
  examples: ['seed', 'seed --yes'],
}
