import type { Database } from '../../prisma/client.ts'
import { openDatabase } from '../../prisma/client.ts'
import { startEmbedded } from '../../prisma/embedded/start.ts'
import { migrate } from '../../prisma/migrate.ts'
import type { Config } from './config.ts'

export interface Store {
  db: Database
  /** In the data directory; null for the operator's own database. */
  embedded: { directory: string; notice?: string } | null
  close: () => Promise<void>
}

/** The migrated database: that of DATABASE_URL, else the embedded one, started if necessary. */
export async function openStore({ databaseUrl, dataDir }: Config, onError: (error: Error) => void): Promise<Store> {
  const embedded = databaseUrl === undefined ? await startEmbedded(dataDir) : null
  const url = databaseUrl ?? embedded!.url
  try {
    await migrate(url)
  } catch (cause) {
    await embedded?.stop()
    // For a host with several addresses Node's error has a code but no message.
    const { message, code } = cause as NodeJS.ErrnoException
    throw new Error(`The database cannot be used: ${message || code}`, { cause })
  }
  const db = openDatabase(url, onError)
  return {
    db,
    embedded,
    async close() {
      await db.$disconnect()
      await embedded?.stop()
    },
  }
}
