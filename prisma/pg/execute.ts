import type { Writable } from 'node:stream'
import type { Connection, Pool, PoolClient, Submittable } from 'pg'
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

/** What PostgreSQL refuses leaves the connection as it was, but for the news that the session ends. */
const leavesConnection = (error: Error) => error instanceof DatabaseError && !/^(?:57P|08)/.test(error.code ?? '')

/** An execution that has no connection yet. */
interface Waiting {
  statement: Statement
  values: readonly Field[]
  since: number
  resolve: (rows: Field[][]) => void
  reject: (error: Error) => void
}

/** How often it is looked whether somebody has waited too long for a connection. */
const LOOK_MS = 500

/**
 * Runs statements on a pool; their rows are the fields as PostgreSQL writes them. While others wait for a connection, it
 * goes from one execution to the next: to give it back and to take it again takes longer than to use it, and the pool has
 * a timer for each who waits. Whoever waits at the pool itself, as Prisma does, comes first.
 */
export function execution(pool: Pool) {
  const { max, connectionTimeoutMillis: patienceMs = Number.POSITIVE_INFINITY } = pool.options
  const waiting: Waiting[] = []
  let held = 0
  let timer: NodeJS.Timeout | undefined

  // Whoever waits for an answer is told by the execution itself; a client without a listener would end the process.
  pool.on('connect', (client) => client.on('error', () => {}))

  function begin(one: Waiting) {
    held++
    pool.connect((failure, client, release) => {
      if (!failure) return run(one, client!, release)
      held--
      one.reject(failure)
      beginNext()
    })
  }

  function beginNext() {
    const next = waiting.shift()
    if (next) begin(next)
  }

  function run({ statement, values, resolve, reject }: Waiting, client: PoolClient, release: (error?: Error) => void) {
    const done: Execution['callback'] = (error, rows) => {
      const next = error || pool.waitingCount > 0 ? undefined : waiting.shift()
      if (next) run(next, client, release)
      else {
        held--
        release(error && !leavesConnection(error) ? error : undefined)
        beginNext()
      }
      if (error) reject(error)
      else resolve(rows)
    }
    client.query(new Execution(statement, values, done))
  }

  function refuseLate() {
    const late = performance.now() - patienceMs
    while (waiting[0] && waiting[0].since <= late) {
      waiting.shift()!.reject(new Error('timeout exceeded when trying to connect'))
    }
    if (waiting.length > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return (statement: Statement, values: readonly Field[]): Promise<Field[][]> =>
    new Promise((resolve, reject) => {
      const one = { statement, values, since: 0, resolve, reject }
      if (held < max) return begin(one)
      one.since = performance.now()
      waiting.push(one)
      timer ??= setInterval(refuseLate, LOOK_MS).unref()
    })
}
