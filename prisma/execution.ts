import type { Writable } from 'node:stream'
import type { Connection, Pool, Submittable } from 'pg'
import { DatabaseError } from 'pg'

/** A statement of ours, under a name by which each connection plans it once. */
export interface Statement {
  name: string
  text: string
}

/** A value as PostgreSQL writes it in text, and reads it for a parameter. */
export type Field = string | null

/** What pg's connection can do, and its types do not tell; pg-cursor goes the same way. */
interface Wire {
  stream: Writable
  parsedStatements: Record<string, string>
  parse: (message: Statement) => void
  bind: (message: { statement: string; values: readonly Field[] }) => void
  execute: (message: object) => void
  sync: () => void
}

/**
 * One execution of a statement, for pg to run as a query. A plain query is made for results of any shape: it asks for
 * their description, builds objects by it and parses each value by its type. Without that, pg takes a third less time.
 */
class Execution implements Submittable {
  readonly name: string
  readonly text: string
  readonly #values: readonly Field[]
  readonly #rows: Field[][] = []
  readonly callback: (error: Error | undefined, rows: Field[][]) => void

  constructor({ name, text }: Statement, values: readonly Field[], callback: Execution['callback']) {
    this.name = name
    this.text = text
    this.#values = values
    this.callback = callback
  }

  submit(connection: Connection) {
    const wire = connection as unknown as Wire
    // One write to the socket for all messages.
    wire.stream.cork()
    if (wire.parsedStatements[this.name] === undefined) wire.parse({ name: this.name, text: this.text })
    wire.bind({ statement: this.name, values: this.#values })
    wire.execute({})
    wire.sync()
    wire.stream.uncork()
  }

  handleDataRow({ fields }: { fields: Field[] }) {
    this.#rows.push(fields)
  }

  handleReadyForQuery() {
    this.callback(undefined, this.#rows)
  }

  handleError(error: Error) {
    this.callback(error, [])
  }

  handleCommandComplete() {}
}

/** Runs statements on a pool; their rows are the fields as PostgreSQL writes them. */
export function execution(pool: Pool) {
  // Whoever waits for an answer is told by the execution itself; a client without a listener would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  return (statement: Statement, values: readonly Field[]): Promise<Field[][]> =>
    new Promise((resolve, reject) => {
      pool.connect((failure, client, release) => {
        if (failure) return reject(failure)
        const done: Execution['callback'] = (error, rows) => {
          // What PostgreSQL refuses leaves the connection as it was.
          release(error && !(error instanceof DatabaseError) && error)
          if (error) reject(error)
          else resolve(rows)
        }
        client!.query(new Execution(statement, values, done))
      })
    })
}
