import type { SchemaState } from './migrate.ts'
import { compareSchema, migrate } from './migrate.ts'

export interface SchemaOptions {
  /** Else a database that lacks migrations is refused. */
  migrateOnStart: boolean
  /** Whose sessions are limited; unset: that of the URL. */
  role?: string | undefined
  /** Gets sentences: another process migrates, or the database is of a newer release. */
  warn?: ((sentence: string) => void) | undefined
}

/** Brings the database to this release, or checks that it is of this release or a newer one. Throws as `migrate` does. */
export async function prepareSchema(
  url: string,
  { migrateOnStart, role, warn = () => {} }: SchemaOptions,
): Promise<void> {
  if (migrateOnStart) {
    // Also with nothing to apply: the role may be a new one. On one connection, as each command and each start does this.
    const waits = () => warn('another process migrates the database: waiting')
    await migrate(url, { role, waits, found: (state) => warnOfNewer(state, warn) })
    return
  }
  const state = await compareSchema(url)
  const { pending } = state
  if (pending.length > 0) {
    throw new Error(`MIGRATE_ON_START is false, and the database ${lackOf(state)}`)
  }
  warnOfNewer(state, warn)
}

function lackOf({ pending, isNew }: SchemaState): string {
  if (isNew) return 'has no tables of this service: if it is the right one, run `npm run migrate` first.'
  const more = pending.length > 1 ? ` and ${pending.length - 1} more` : ''
  return `lacks the migration ${pending[0]}${more}: run \`npm run migrate\` first.`
}

function warnOfNewer({ pending, unknown }: SchemaState, warn: (sentence: string) => void) {
  if (pending.length === 0 && unknown.length > 0)
    warn(`the database is of a newer release: it has the migration ${unknown.at(-1)}`)
}
