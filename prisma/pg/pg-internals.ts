import type { Socket } from 'node:net'
import type { ClientBase, Connection, PoolConfig, Submittable } from 'pg'
import { Client } from 'pg'
import { bindMessage } from './bind-message.ts'
import { isStale } from './stale-statements.ts'
import type { Parameter, Statement, Text } from './statement.ts'

const LARGE_BYTES = 64 * 1024

const isLarge = (value: Parameter) => value instanceof Buffer && value.length > LARGE_BYTES

type Planned = Pick<Statement, 'name' | 'text'>

/** The statements that each connection has planned, and what marks their texts there: PgBouncer knows a statement by its text. */
const prepared = new WeakMap<Connection, { names: Set<string>; mark: string }>()

/**
 * One execution of a prepared statement, run as a query of a client; the one place that speaks PostgreSQL's protocol. pg's own
 * query with `{ rowMode: 'array', types }` also asks for the description of the result and looks up a parser per column:
 * 15 us more in the process alone, and 20 to 50 us in all, on a GET of 160 to 195 (npm run bench).
 */
export class PreparedQuery implements Submittable {
  readonly #statement: Planned
  readonly #values: Parameter[]
  /** '' is planned for this execution alone. */
  readonly #name: string
  readonly #rows: Text[][] = []
  #connection: Connection | undefined
  readonly callback: (error: Error | undefined, rows: Text[][]) => void

  constructor(statement: Planned, values: Parameter[], callback: PreparedQuery['callback'], name = statement.name) {
    this.#statement = statement
    this.#name = name
    this.#values = values
    this.callback = callback
  }

  get statementName() {
    return this.#statement.name
  }

  /** The same, which also calls `ended`, first. */
  notifying(ended: (error: Error | undefined) => void) {
    return new PreparedQuery(this.#statement, this.#values, (error, rows) => {
      ended(error)
      this.callback(error, rows)
    })
  }

  submit(connection: Connection) {
    const name = this.#name
    const of = prepared.get(connection)
    this.#connection = connection
    // One write to the socket for all messages.
    connection.stream.cork()
    if (!of?.names.has(name)) {
      // An execution that failed may have left the name behind.
      connection.close({ type: 'S', name }, true)
      connection.parse({ name, text: this.#statement.text + (of?.mark ?? ''), types: [] }, true)
    }
    if (this.#values.some(isLarge)) {
      for (const part of bindMessage(name, this.#values)) connection.stream.write(part)
    } else connection.bind({ statement: name, values: this.#values }, true)
    connection.execute(null, true)
    connection.sync()
    connection.stream.uncork()
  }

  handleDataRow({ fields }: { fields: Text[] }) {
    this.#rows.push(fields)
  }

  handleCommandComplete() {}

  handleReadyForQuery() {
    if (this.#name !== '') {
      const of = prepared.get(this.#connection!)
      if (of) of.names.add(this.#name)
      else prepared.set(this.#connection!, { names: new Set([this.#name]), mark: '' })
    }
    this.callback(undefined, this.#rows)
  }

  handleError(error: Error) {
    if (this.#name !== '' && isStale(error)) this.#forget()
    this.callback(error, [])
  }

  /** All of the connection's are planned again. */
  #forget() {
    const mark = `${prepared.get(this.#connection!)?.mark ?? ''}--`
    prepared.set(this.#connection!, { names: new Set(), mark })
  }
}

/**
 * The settings of connections with their address parsed. pg parses it for each connection, and reads the certificates that it
 * names again: a file that cannot be read at that moment would throw within the pool, where it ends the process.
 */
export function parseAddress({ connectionString, ...config }: PoolConfig): PoolConfig {
  const { connectionParameters: parsed } = new Client({ ...config, connectionString }) as unknown as {
    connectionParameters: Pick<PoolConfig, 'password'>
  }
  // A spread omits it, as it is not enumerable.
  return { ...config, ...parsed, password: parsed.password }
}

const getConnection = (client: ClientBase) => (client as unknown as Client).connection as Connection

/** Below a client: TLS, where there is TLS. */
export const getSocket = (client: ClientBase) => getConnection(client).stream as Socket

/** Calls `report` with the SQLSTATE of each error of the server, whoever sent the statement. */
export const onServerError = (client: ClientBase, report: (code: string) => void) =>
  getConnection(client).on('errorMessage', ({ code }: { code: string }) => report(code))
