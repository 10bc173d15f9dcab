import pg from 'pg'
import type { ConnectionShares, Holder } from './connection-shares.ts'
import { endConnection } from './end-connection.ts'
import { keepsConnection } from './ended-sessions.ts'

/** Runs `work` on a connection of the holder's share or, without one, on any. */
export type InTransaction = <T>(work: (client: pg.ClientBase) => Promise<T>, holder?: Holder) => Promise<T>

export const inTransactionOn =
  (shares: ConnectionShares): InTransaction =>
  async (work, holder) => {
    const { client, release } = await connectOn(shares, holder)
    try {
      const result = await inTransaction(client, () => work(client))
      release()
      return result
    } catch (error) {
      release(!keepsConnection(error))
      throw error
    }
  }

const connectOn = (shares: ConnectionShares, holder: Holder | undefined) =>
  new Promise<{ client: pg.PoolClient; release: (error?: unknown) => void }>((resolve, reject) => {
    shares.connect(holder, (failure, client, release) =>
      failure ? reject(failure) : resolve({ client: client!, release }),
    )
  })

/** COMMITs when `work` resolves, and ROLLBACKs when it throws. */
export async function inTransaction<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN')
  try {
    const result = await work()
    await client.query('COMMIT')
    return result
  } catch (error) {
    // When the connection is lost, the server rolls back.
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** The session is in UTC. */
export async function withConnection<T>(url: string, work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    options: '-c timezone=UTC',
    application_name: 'member-apps-api',
    connectionTimeoutMillis: 3_000,
    keepAlive: true,
  })
  // A query in flight rejects too; without a listener, 'error' would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await endConnection(client)
  }
}
