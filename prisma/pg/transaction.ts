import pg from 'pg'

/** Runs `work` in a transaction on a connection of the pool; see `inTransaction`. */
export type InTransaction = <T>(work: (client: pg.ClientBase) => Promise<T>) => Promise<T>

export const inTransactionOn =
  (pool: pg.Pool): InTransaction =>
  async (work) => {
    const client = await pool.connect()
    try {
      const result = await inTransaction(client, () => work(client))
      client.release()
      return result
    } catch (error) {
      // After an error that PostgreSQL reports the connection is usable; else it goes.
      client.release(!(error instanceof pg.DatabaseError))
      throw error
    }
  }

/** Runs `work` in one transaction of the connection: COMMIT when it resolves, ROLLBACK when it throws. */
export async function inTransaction<T>(client: pg.ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('BEGIN')
  try {
    const result = await work()
    await client.query('COMMIT')
    return result
  } catch (error) {
    // On a connection that is gone, the server rolls back itself.
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

/** Runs `work` on a connection of its own, in UTC. */
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
    await client.end().catch(() => {})
  }
}
