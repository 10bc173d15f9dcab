import type { Pool } from 'pg'
import { DatabaseError } from 'pg'
import { PreparedQuery } from './pg-internals.ts'
import { isStale } from './stale-statements.ts'
import type { Parameter, Statement, Text } from './statement.ts'

/** Runs a statement with the values of `$1`, `$2`, … */
export type Execute = <R>(statement: Statement<R>, values: Parameter[]) => Promise<R[]>

/**
 * After an error that PostgreSQL reports the connection is usable, unless the session has ended or the server has become a
 * standby.
 */
const keepsConnection = (error: Error) => error instanceof DatabaseError && !/^(?:57P|08|25006)/.test(error.code ?? '')

export function executeOn(pool: Pool): Execute {
  // The query gets the error too; without a listener, 'error' would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))

  const run = (statement: Statement, values: Parameter[]) =>
    new Promise<Text[][]>((resolve, reject) => {
      pool.connect((failure, client, release) => {
        if (failure) return reject(failure)
        const end = (error: Error | undefined, rows: Text[][]) => {
          release(error && !keepsConnection(error) ? error : undefined)
          if (error) reject(error)
          else resolve(rows)
        }
        const query = new PreparedQuery(statement, values, (error, rows) => {
          if (isStale(error)) client!.query(new PreparedQuery(statement, values, end, ''))
          else end(error, rows)
        })
        client!.query(query)
      })
    })

  return async (statement, values) => (await run(statement, values)).map((fields) => statement.decode(fields))
}
