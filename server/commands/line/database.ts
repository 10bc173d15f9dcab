import type { ClientBase } from 'pg'
import { ForeignMigrationError } from '../../../prisma/applied-migrations.ts'
import type { Database } from '../../../prisma/client.ts'
import { startEmbedded } from '../../../prisma/embedded/start.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { int, statement } from '../../../prisma/pg/statement.ts'
import { withConnection } from '../../../prisma/pg/transaction.ts'
import { databaseSettings, readSettings } from '../../process/command-settings.ts'
import { openRuntime } from '../../process/runtime.ts'
import { databaseUnusable } from '../../process/store.ts'
import type { Io } from './command.ts'

/** Opens the configured database directly, not through PgBouncer; an embedded server is started if none runs. */
export async function withDatabase<Result>({ env }: Io, use: (db: Database) => Promise<Result>): Promise<Result> {
  const { store, close } = await openDirectly(env)
  return use(store.db).finally(close)
}

const openDirectly = (env: Io['env']) =>
  openRuntime({ ...readSettings(env, ...databaseSettings), direct: true }, 'store')

/** The same database's address; its schema is not migrated. */
export async function withDatabaseUrl<Result>({ env }: Io, use: (url: string) => Promise<Result>): Promise<Result> {
  const { databaseUrl, databaseDirectUrl, dataDir } = readSettings(env, ...databaseSettings)
  const embedded = databaseUrl === undefined ? await startEmbedded(dataDir) : null
  const failed = (cause: NodeJS.ErrnoException) => {
    const isUnreached = /^(?:connect|getaddrinfo)$/.test(cause.syscall ?? '') || cause instanceof AggregateError
    const isUnusable = isUnreached || cause instanceof ForeignMigrationError
    throw isUnusable ? databaseUnusable(cause, embedded?.directory) : cause
  }
  return use(databaseDirectUrl ?? databaseUrl ?? embedded!.url)
    .catch(failed)
    .finally(() => embedded?.stop())
}

const CANCEL_INTERVAL_MS = 200

const ownBackend = statement('own_backend', 'SELECT pg_backend_pid() AS pid', {}, { pid: int })
const cancelBackend = statement('cancel_backend', 'SELECT FROM pg_cancel_backend($pid)', { pid: int }, {})

/** Uses a connection for transactions of any length. Its statements are cancelled when `signal` aborts. */
export async function withOwnConnection<Result>(
  { env }: Pick<Io, 'env'>,
  use: (client: ClientBase, db: Database) => Promise<Result>,
  signal = new AbortController().signal,
): Promise<Result> {
  const { store, close } = await openDirectly(env)
  const { db, url } = store
  let timer: NodeJS.Timeout | undefined
  const work = withConnection(url, async (client) => {
    const [{ pid }] = (await executeIn(client, ownBackend, {})) as [{ pid: number }]
    const cancel = () => void db.execute(cancelBackend, { pid }).catch(() => {})
    // Repeated, as one call may fall between two statements.
    const begin = () => {
      timer ??= setInterval(cancel, CANCEL_INTERVAL_MS)
    }
    signal.throwIfAborted()
    signal.addEventListener('abort', begin)
    return use(client, db).finally(() => {
      signal.removeEventListener('abort', begin)
      clearInterval(timer)
    })
  })
  return work.finally(close)
}
