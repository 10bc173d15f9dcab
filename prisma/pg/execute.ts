import type { ClientBase } from 'pg'
import type { ConnectionShares, Holder } from './connection-shares.ts'
import { keepsConnection } from './ended-sessions.ts'
import { PreparedQuery } from './pg-internals.ts'
import { isStale } from './stale-statements.ts'
import type { Statement, Text } from './statement.ts'

/** Runs a statement on a connection of the holder's share or, without one, on any. */
export type Execute = <V, R>(statement: Statement<V, R>, values: V, holder?: Holder) => Promise<R[]>

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

/** Prisma's transaction, which does not show its connection. */
interface PrismaTransaction {
  $queryRawUnsafe: <T>(text: string, ...values: unknown[]) => PromiseLike<T>
  /** A database has it, and no transaction. */
  execute?: never
}

/** A connection in a transaction, ours or Prisma's. */
export type Transactional = ClientBase | PrismaTransaction

/** Runs a statement in a transaction. It has no name there: an error, as of a stale plan, would end the transaction. */
export async function executeIn<V, R>(transaction: Transactional, statement: Statement<V, R>, values: V): Promise<R[]> {
  const parameters = statement.encode(values)
  const rows =
    '$queryRawUnsafe' in transaction
      ? await listTexts(statement, transaction.$queryRawUnsafe(statement.text, ...parameters))
      : await new Promise<Text[][]>((resolve, reject) => {
          const end = (error: Error | undefined, rows: Text[][]) => (error ? reject(error) : resolve(rows))
          transaction.query(new PreparedQuery(statement, parameters, end, ''))
        })
  return rows.map((fields) => statement.decode(fields))
}

/** Runs a statement on a database or in a transaction. */
export const execute = <V, R>(
  on: { execute: Execute } | PrismaTransaction,
  statement: Statement<V, R>,
  values: V,
): Promise<R[]> => (on.execute ? on.execute(statement, values) : executeIn(on, statement, values))

/** Prisma decodes by its own rules: returns the texts that it has read. */
async function listTexts({ columns }: Pick<Statement, 'columns'>, found: PromiseLike<Record<string, unknown>[]>) {
  const names = Object.keys(columns)
  return (await found).map((row) => names.map((name) => toText(row[name])))
}

function toText(value: unknown): Text {
  if (value === null) return null
  if (typeof value === 'boolean') return value ? 't' : 'f'
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
