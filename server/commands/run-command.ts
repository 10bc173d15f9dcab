import type { Io, Run } from './command.ts'
import { command, UsageError } from './command.ts'

/** Loaded only when asked for: `token` needs neither Prisma nor PostgreSQL. */
const commands: Record<string, () => Promise<{ run: Run }>> = {
  client: () => import('./client.ts'),
  keys: () => import('./keys.ts'),
  secrets: () => import('./secrets.ts'),
  seed: () => import('./seed.ts'),
  storage: () => import('./storage.ts'),
  studio: () => import('./studio.ts'),
  token: () => import('./token.ts'),
}

const usage = `Usage: node dist/server/commands/main.js <command> [arguments], or npm run -s <command> -- [arguments]

  client   registers apps and their clients, lists and removes them
  keys     lists and rotates the keys that sign access tokens
  secrets  checks and rotates SECRETS_KEY
  seed     loads the demo data
  storage  shows and erases what an app has stored in a club
  studio   opens Prisma Studio on the database
  token    prints an access token for development

Each explains its arguments with --help.
`

/** Runs the command that the first word names. */
export function runCommand([name, ...argv]: readonly string[], io: Io): Promise<number> {
  const load = name !== undefined && Object.hasOwn(commands, name) ? commands[name] : undefined
  if (load) return load().then(({ run }) => run(argv, io))
  const runUnknown = command(usage, async () => {
    throw new UsageError(name === undefined ? 'A command is needed.' : `Unknown command: ${name}.`)
  })
  return runUnknown(name === undefined ? [] : [name], io)
}
