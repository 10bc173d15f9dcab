import type { SchemaState } from './migrate.ts'
import { compareSchema, migrate } from './migrate.ts'

export interface SchemaOptions {
  /** If false, a database that lacks migrations is refused. */
  migrateOnStart: boolean
  /** The role whose sessions are limited; default: the URL's. */
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
    // Also runs when nothing is pending, as the role may be a new one. It uses one connection, as each command and each start
    // does this.
    const waits = () => warn('another process migrates the database: waiting')
    await migrate(url, { role, waits, found: (state) => warnOfNewer(state, warn) })
    return
  }
  const state = await compareSchema(url)
  if (state.pending.length > 0 || state.functions.length > 0) {
    throw new Error(`MIGRATE_ON_START is false, and the database ${describeLack(state)}`)
  }
  warnOfNewer(state, warn)
}

function describeLack({ pending, functions, isNew }: SchemaState): string {
  if (isNew) return 'has no tables of this service: if it is the right one, run `member-apps migrate` first.'
  const [first, ...more] = [...pending.map((name) => `the migration ${name}`), ...functions]
  return `lacks ${first}${more.length > 0 ? ` and ${more.length} more` : ''}: run \`member-apps migrate\` first.`
}

function warnOfNewer({ newer }: SchemaState, warn: (sentence: string) => void) {
  if (newer) warn(`the database is of a newer release: it has ${newer}`)
}
