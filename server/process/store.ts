import { ForeignMigrationError } from '../../prisma/applied-migrations.ts'
import type { Database } from '../../prisma/client.ts'
import { openDatabase } from '../../prisma/client.ts'
import type { PoolObserver } from '../../prisma/pg/observed-pool.ts'
import type { SchemaOptions } from '../../prisma/prepare-schema.ts'
import { prepareSchema } from '../../prisma/prepare-schema.ts'
import { readRole } from '../../prisma/session-limits.ts'
import type { TimeLimits } from '../../prisma/time-limits.ts'
import type { Config } from './config.ts'

export interface Store {
  db: Database
  /** The server's own address, as `db` may connect to PgBouncer. */
  url: string
  /** The data directory; null for the operator's own database. */
  embedded: { directory: string; notice?: string } | null
  close: () => Promise<void>
}

const startEmbedded = (dataDir: string, failed: (error: Error) => void) =>
  import('../../prisma/embedded/start.ts').then(({ startEmbedded }) => startEmbedded(dataDir, failed))

export interface StoreSettings
  extends Pick<Config, 'databaseUrl' | 'databaseDirectUrl' | 'dataDir' | 'migrateOnStart'> {
  databasePoolMax: number | undefined
}

interface StoreOptions {
  direct?: boolean
  warn?: (sentence: string) => void
  observer?: PoolObserver | undefined
  timeLimits?: TimeLimits
}

/**
 * Opens and migrates the database of DATABASE_URL, `direct` that of DATABASE_DIRECT_URL, else the embedded one, which is started
 * if necessary. `warn` gets sentences about its schema, and why an embedded one cannot be restarted. Throws an error with
 * instructions for the operator.
 */
export async function openStore(
  config: StoreSettings,
  onError: (error: Error) => void,
  { direct = false, warn, observer, timeLimits }: StoreOptions = {},
): Promise<Store> {
  const { databaseUrl, migrateOnStart } = config
  const embedded =
    databaseUrl === undefined ? await startEmbedded(config.dataDir, ({ message }) => warn?.(message)) : null
  const pooledUrl = databaseUrl ?? embedded!.url
  const url = config.databaseDirectUrl ?? pooledUrl
  try {
    const role = readRole(pooledUrl)
    await prepareStore(url, { directory: embedded?.directory, role, migrateOnStart, warn })
  } catch (error) {
    await embedded?.stop()
    throw error
  }
  const db = openDatabase(direct ? url : pooledUrl, onError, {
    max: config.databasePoolMax,
    observer,
    limits: timeLimits,
  })
  return {
    db,
    url,
    embedded,
    async close() {
      await db.$disconnect().finally(() => embedded?.stop())
    },
  }
}

/** Prepares the schema of the database, embedded in a directory or not. Throws an error with instructions for the operator. */
export async function prepareStore(
  url: string,
  { directory, ...options }: SchemaOptions & { directory: string | undefined },
): Promise<void> {
  try {
    await prepareSchema(url, options)
  } catch (cause) {
    throw databaseUnusable(cause as NodeJS.ErrnoException, directory)
  }
}

/** An error with instructions for the operator, for a database embedded in a directory or not. */
export const databaseUnusable = (cause: NodeJS.ErrnoException, directory: string | undefined) =>
  new Error(describeReason(cause, directory), { cause })

function describeReason(error: NodeJS.ErrnoException, directory: string | undefined): string {
  // For a host with several addresses Node's error, an AggregateError, has a code but no message.
  if (!(error instanceof ForeignMigrationError)) return `The database cannot be used: ${error.message || error.code}`
  const made = `made by another version of this service, whose migration ${error.migration} differs`
  return directory === undefined
    ? `The database of DATABASE_URL was ${made}: run that version, restore that migration and write a new one, or use an empty database.`
    : `The data in ${directory} was ${made}: delete that directory to start with new data, or run that version to keep it.`
}
