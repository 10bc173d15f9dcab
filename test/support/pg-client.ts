import pg from 'pg'

/** A client whose connection may be ended by the server: without a listener, that is an error of no test. */
export function pgClient(config: string | pg.ClientConfig): pg.Client {
  const client = new pg.Client(config)
  client.on('error', () => {})
  return client
}
