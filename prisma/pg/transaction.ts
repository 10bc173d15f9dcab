import pg from 'pg'

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
      // After an error that PostgreSQL reports the connection is usable; otherwise it is closed.
      client.release(!(error instanceof pg.DatabaseError))
      throw error
    }
  }

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
    await client.end().catch(() => {})
  }
}
