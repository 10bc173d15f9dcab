import { didYouMean } from './arguments.ts'
import type { Io, Run } from './command.ts'
import { command, UsageError } from './command.ts'

/** Loaded on demand: `token` needs neither Prisma nor PostgreSQL. */
const commands = {
  clean: () => import('./clean.ts'),
  client: () => import('./client.ts'),
  import: () => import('./import.ts'),
  keys: () => import('./keys.ts'),
  member: () => import('./member.ts'),
  migrate: () => import('./migrate.ts'),
  removals: () => import('./removals.ts'),
  secrets: () => import('./secrets.ts'),
  seed: () => import('./seed.ts'),
  storage: () => import('./storage.ts'),
  studio: () => import('./studio.ts'),
  team: () => import('./team.ts'),
  token: () => import('./token.ts'),
  webhook: () => import('./webhook.ts'),
} satisfies Record<string, () => Promise<{ run: Run }>>

export type CommandName = keyof typeof commands

export const commandNames = Object.keys(commands) as CommandName[]

const usage = `Usage: node dist/server/commands/main.js <command> [arguments], or npm run -s <command> -- [arguments]

  clean     removes expired data
  client    registers apps and their clients, lists and removes them
  import    merges the platform's records from files
  keys      lists and rotates the keys that sign access tokens
  member    exports and erases what is stored about a person
  migrate   migrates the database to this release
  removals  repeats removals made since a backup
  secrets   checks and rotates SECRETS_KEY
  seed      loads the demo data
  storage   shows and erases what an app has stored in a club
  studio    opens Prisma Studio on the database
  team      adds teams, invites people, changes levels
  token     prints an access token for development
  webhook   sends a test event to a receiver

Each explains its arguments with --help.
`

export function runCommand([name, ...argv]: readonly string[], io: Io): Promise<number> {
  const known = commandNames.find((one) => one === name)
  if (known) return commands[known]().then(({ run }) => run(argv, io))
  const runUnknown = command(usage, async () => {
    throw new UsageError(
      name === undefined ? 'A command is required.' : `Unknown command: ${name}.${didYouMean(name, commandNames)}`,
    )
  })
  return runUnknown(name === undefined ? [] : [name], io)
}
