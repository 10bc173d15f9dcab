import { compareSchema, migrate } from './migrate.ts'

export interface SchemaOptions {
  /** Else a database that lacks migrations is refused. */
  migrateOnStart: boolean
  /** Whose sessions are limited; unset: that of the URL. */
  role?: string | undefined
  /** Gets sentences: another process migrates, or the database is of a newer release. */
  warn?: ((sentence: string) => void) | undefined
}

/** Brings the database to this release, or finds that it is of this release or a newer one. Throws as `migrate` does. */
export async function prepareSchema(
  url: string,
  { migrateOnStart, role, warn = () => {} }: SchemaOptions,
): Promise<void> {
  const { pending, unknown } = await compareSchema(url)
  if (pending.length > 0 && !migrateOnStart) {
    const more = pending.length > 1 ? ` and ${pending.length - 1} more` : ''
    throw new Error(
      `MIGRATE_ON_START is false, and it lacks the migration ${pending[0]}${more}: run \`npm run migrate\` first.`,
    )
  }
  // Also with nothing to apply: the role may be a new one.
  if (migrateOnStart) await migrate(url, { role, waits: () => warn('another process migrates the database: waiting') })
  if (pending.length === 0 && unknown.length > 0)
    warn(`the database is of a newer release: it has the migration ${unknown.at(-1)}`)
}
