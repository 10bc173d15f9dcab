import pg from 'pg'

const UNKNOWN_STATEMENT = '26000'
const DUPLICATE_STATEMENT = '42P05'

/**
 * Whether a prepared statement was not executed because the session has no such one, or another one of this name (behind a
 * pooler, or after DISCARD ALL), or because its result has other types since a migration.
 */
export const isStale = (error: unknown): boolean =>
  error instanceof pg.DatabaseError &&
  (error.code === UNKNOWN_STATEMENT ||
    error.code === DUPLICATE_STATEMENT ||
    // "cached plan must not change result type", in the server's language.
    (error.code === '0A000' && error.routine === 'RevalidateCachedQuery'))

type Callback = (error: Error | undefined, result: pg.QueryResult) => void

/**
 * A client that runs a stale statement once more, without a name, and prepares all again from then on. In a transaction, which
 * an error ends, statements have no names and cannot be stale.
 */
export class SteadyClient extends pg.Client {
  /** Part of the names and texts of statements prepared on this connection; PgBouncer identifies them by their texts. */
  #generation = 0

  // biome-ignore lint/suspicious/noExplicitAny: pg's overloads
  override query(...[query, values, callback]: any[]): any {
    const { name } = query
    if (name === undefined || typeof query.submit === 'function') return super.query(query, values, callback)
    const unnamed = { ...query, name: undefined }
    if (this.getTransactionStatus() !== 'I') return super.query(unnamed, values, callback)
    const generation = this.#generation
    const suffix = `--${generation}`
    const named = generation === 0 ? query : { ...query, name: name + suffix, text: query.text + suffix }
    const again = (error: unknown) => {
      if (!isStale(error)) return false
      if (generation === this.#generation) this.#generation++
      return true
    }
    if (callback) {
      const done: Callback = (error, result) =>
        again(error) ? this.query(unnamed, values, callback) : callback(error, result)
      return super.query(named, values, done)
    }
    return super.query(named, values).catch((error) => {
      if (again(error)) return this.query(unnamed, values)
      throw error
    })
  }
}
