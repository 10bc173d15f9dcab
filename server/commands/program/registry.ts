import type { Command } from '../line/command.ts'

export interface Listed {
  /** What it does, for the list of commands. */
  summary: string
  /** On demand: `token` needs neither Prisma nor PostgreSQL. */
  load: () => Promise<{ command: Command }>
}

const listed = (summary: string, load: Listed['load']): Listed => ({ summary, load })

export const completionSummary = 'prints a script that completes command lines'

/** All commands but `completion`, which reads them here, in the order of the list. */
export const groups = {
  Service: {
    start: listed('runs the service', () => import('../operation/start.ts')),
    worker: listed('delivers webhooks in a separate process', () => import('../operation/worker.ts')),
    migrate: listed('migrates the database to this release', () => import('../operation/migrate.ts')),
    words: listed("prints the texts of members' pages", () => import('../words/words.ts')),
    clean: listed('removes expired data', () => import('../operation/clean.ts')),
  },
  Apps: {
    team: listed('adds teams, invites people, changes levels', () => import('../team/team.ts')),
    client: listed('registers apps and their clients, lists and removes them', () => import('../client/client.ts')),
    storage: listed('shows and erases what an app has stored in a club', () => import('../storage/storage.ts')),
  },
  People: {
    import: listed("merges the platform's records from files", () => import('../import/import.ts')),
    member: listed('exports and erases what is stored about a person', () => import('../member/member.ts')),
    removals: listed('repeats removals made since a backup', () => import('../removals/removals.ts')),
  },
  Keys: {
    keys: listed('lists and rotates the keys that sign access tokens', () => import('../keys/keys.ts')),
    secrets: listed('checks and rotates SECRETS_KEY', () => import('../secrets/secrets.ts')),
  },
  Development: {
    seed: listed('loads the demo data', () => import('../development/seed.ts')),
    token: listed('prints an access token for development', () => import('../development/token.ts')),
    webhook: listed('sends a test event to a receiver', () => import('../webhook/webhook.ts')),
    studio: listed('opens Prisma Studio on the database', () => import('../development/studio.ts')),
  },
} as const
