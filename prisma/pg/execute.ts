import { DatabaseError } from 'pg'
import type { ConnectionShares, Holder } from './connection-shares.ts'
import { PreparedQuery } from './pg-internals.ts'
import { isStale } from './stale-statements.ts'
import type { Statement, Text } from './statement.ts'

/** Runs a statement on a connection of the holder's share or, without one, on any. */
export type Execute = <V, R>(statement: Statement<V, R>, values: V, holder?: Holder) => Promise<R[]>

/**
 * After an error that PostgreSQL reports the connection is usable, unless the session has ended or the server has become a
 * standby.
 */
const keepsConnection = (error: Error) => error instanceof DatabaseError && !/^(?:57P|08|25006)/.test(error.code ?? '')

export const executeOn =
  (shares: ConnectionShares): Execute =>
  (statement, values, holder) =>
    new Promise((resolve, reject) => {
      const parameters = statement.encode(values)
      shares.connect(holder, (failure, client, release) => {
        if (failure) return reject(failure)
        const query = new PreparedQuery(statement, parameters, (error, rows) => {
          if (isStale(error)) client!.query(new PreparedQuery(statement, parameters, end, ''))
          else end(error, rows)
        })
        client!.query(query)
        function end(error: Error | undefined, rows: Text[][]) {
          release(error && !keepsConnection(error) ? error : undefined)
          if (error) return reject(error)
          try {
            resolve(rows.map((fields) => statement.decode(fields)))
          } catch (cause) {
            reject(cause)
          }
        }
      })
    })
