import type { Database } from '../../prisma/client.ts'
import type { Statement } from '../../prisma/pg/statement.ts'
import { bool, int, nullable, statement, text, uuid } from '../../prisma/pg/statement.ts'
import type { Cipher } from '../kernel/cipher.ts'
import { cursorsFor } from '../kernel/cursor.ts'
import { errors } from '../kernel/errors.ts'
import type { Reserve } from '../kernel/read-within.ts'
import { readWithin } from '../kernel/read-within.ts'
import { unix } from '../kernel/time.ts'
import type { StoredEntry } from './entry.ts'
import type { Collection } from './statements.ts'

/** A key's last state: an entry, or `value` and `version` are null for a removed one. */
export type Change = StoredEntry | { key: string; value: null; updatedAt: number; version: null }

/**
 * `after`: the entries up to this key have been read, as they were at `number` or later; without it, all changes up to `number`:
 * 0 if nothing was stored.
 */
export interface Position {
  number: number
  after?: string | undefined
}

/** `at`: the position after this change. */
export type ChangeAt = Change & { at: Position }

export interface ChangePage {
  changes: ChangeAt[]
  /** The bytes of their values. */
  bytes: number
  next: Position
  /** More can be read at once. */
  more: boolean
}

/** Beyond the bytes of any page that ends by its rows alone. */
const ANY_BYTES = Number.MAX_SAFE_INTEGER

interface Wanted {
  since: Position | undefined
  limit: number
  /** The page ends before the change with which its values exceed this, but has one change at least. */
  pageBytes?: number | undefined
  /** Values up to this size are read without a reservation. */
  freeBytes?: number
}

/** Rows of the log that one page reads: most may be of keys that changed again since. */
const SCANNED = 1_000

const store = { last: int, horizon: int }
const found = {
  bytes: nullable(int),
  count: nullable(int),
  key: nullable(text),
  value: nullable(text),
  version: nullable(uuid),
  updatedAt: nullable(int),
}

/** `last` is the number of the store's last change. One row without a key if there is nothing. */
const STORE = `store AS (SELECT coalesce(max(changes), 0) AS last, coalesce(max(horizon), 0) AS horizon
      FROM "StorageUsage" WHERE "appId" = $app AND "clubId" = $club)`
const ADDRESS = `"appId" = $app AND "clubId" = $club AND owner = $owner AND collection = $collection`

const address = { app: text, club: text, owner: text, collection: text }
const bounds = { limit: int, maxBytes: int, pageBytes: int }

const statements = {
  /**
   * The entries after a key. Their values are null beyond `maxBytes`. At `pageBytes` the page ends, after one row at least. `count`:
   * the rows without that end.
   */
  entries: statement(
    'storage_snapshot',
    `WITH ${STORE}
      SELECT last, horizon, bytes, count, key, CASE WHEN bytes <= $maxBytes THEN value END AS value, version, "updatedAt"
      FROM store LEFT JOIN LATERAL (
        SELECT key, value, version, ${unix('"updatedAt"')} AS "updatedAt", count, max(upto) OVER () AS bytes
        FROM (SELECT *, sum(octet_length(value)) OVER (ORDER BY key) AS upto, count(*) OVER () AS count
          FROM (SELECT * FROM "StorageEntry" WHERE ${ADDRESS} AND key > $after ORDER BY key LIMIT least($limit::int8, 201)) entry) sized
        WHERE upto <= $pageBytes::int8 OR upto = octet_length(value)
      ) page ON true ORDER BY key`,
    { ...address, after: text, ...bounds },
    { ...store, ...found },
  ),
  /**
   * The changes after a number. LIMIT 1: as a join, a plan without statistics reads the whole collection for each row of the log
   * (0.9 s with 5,000 entries). A row of the log counts if it is its key's last: the entry has its version, or there is neither, as
   * after each removal; so it is also the last of these rows. `isFull`: the page has read all that it may of the log, up to
   * `scanned`.
   */
  changes: statement(
    'storage_changes',
    `WITH ${STORE},
        log AS MATERIALIZED (SELECT *, lead(number) OVER (PARTITION BY key ORDER BY number) IS NULL AS "isLast"
          FROM (SELECT number, key, version, at FROM "StorageChange"
            WHERE ${ADDRESS} AND number > $after::int8 ORDER BY number LIMIT ${SCANNED}) scanned)
      SELECT last, horizon, (SELECT count(*) = ${SCANNED} FROM log) AS "isFull", coalesce((SELECT max(number) FROM log), 0) AS scanned,
        number, bytes, count, key, CASE WHEN bytes <= $maxBytes THEN value END AS value, version, "updatedAt"
      FROM store LEFT JOIN LATERAL (
        SELECT number, key, value, version, ${unix('"updatedAt"')} AS "updatedAt", count, max(upto) OVER () AS bytes
        FROM (SELECT *, sum(octet_length(value)) OVER (ORDER BY number) AS upto, count(*) OVER () AS count
          FROM (SELECT log.number, log.key, entry.value, log.version, coalesce(entry."updatedAt", log.at) AS "updatedAt"
            FROM log LEFT JOIN LATERAL (SELECT * FROM "StorageEntry" stored WHERE ${ADDRESS} AND stored.key = log.key LIMIT 1) entry
              ON true
            WHERE "isLast" AND entry.version IS NOT DISTINCT FROM log.version ORDER BY number LIMIT least($limit::int8, 201)) change) sized
        WHERE coalesce(upto, 0) <= $pageBytes::int8 OR upto = octet_length(value)
      ) page ON true ORDER BY number`,
    { ...address, after: int, ...bounds },
    { ...store, isFull: bool, scanned: int, number: nullable(int), ...found },
  ),
}

/**
 * A page of at most `limit` changes after `since`; without it the entries, and then the changes since they were read. Throws 410
 * when changes after `since` are no longer stored, and when `since` is ahead of the store, as after a restore.
 */
export async function readChanges(
  db: Database,
  collection: Collection,
  { since, limit, pageBytes = ANY_BYTES, freeBytes }: Wanted,
  reserve: Reserve,
): Promise<ChangePage> {
  const { app, club, owner, collection: name } = collection
  const read = <After, Row extends { bytes: number | null }>(of: Statement<Asked<After>, Row>, after: After) =>
    readWithin(
      reserve,
      (maxBytes) =>
        db.execute(of, { app, club, owner, collection: name, after, limit: limit + 1, maxBytes, pageBytes }),
      freeBytes,
    )
  const isExpired = ({ last, horizon }: { last: number; horizon: number }) =>
    since !== undefined && since.number > 0 && (since.number < horizon || since.number > last)

  if (!since || since.number === 0 || since.after !== undefined) {
    const rows = await read(statements.entries, since?.after ?? '')
    const { last, bytes, count } = rows[0]!
    if (isExpired(rows[0]!)) throw errors.cursorExpired()
    const number = since?.number || last
    const changes = rows
      .filter(hasKey)
      .slice(0, limit)
      .map((row) => changeAt(row, { number, after: row.key }))
    const page = { changes, bytes: bytes ?? 0 }
    if ((count ?? 0) > changes.length) return { ...page, next: changes.at(-1)!.at, more: true }
    return { ...page, next: { number }, more: last > number }
  }

  const rows = await read(statements.changes, since.number)
  const { last, isFull, scanned, bytes, count } = rows[0]!
  if (isExpired(rows[0]!)) throw errors.cursorExpired()
  const changes = rows
    .filter(hasKey)
    .slice(0, limit)
    .map((row) => changeAt(row, { number: row.number! }))
  const page = { changes, bytes: bytes ?? 0 }
  if ((count ?? 0) > changes.length) return { ...page, next: changes.at(-1)!.at, more: true }
  return { ...page, next: { number: isFull ? scanned : last }, more: isFull }
}

interface Asked<After> extends Collection {
  after: After
  limit: number
  maxBytes: number
  pageBytes: number
}

type Row = { key: string | null; value: string | null; updatedAt: number | null; version: string | null }

const changeAt = ({ key, value, updatedAt, version }: Change, at: Position) =>
  ({ key, value, updatedAt, version, at }) as ChangeAt

const hasKey = <R extends Row>(row: R): row is R & Change => row.key !== null

/** A member's cursors of a collection; `member` is null for the app itself. */
export function changeCursors(
  cipher: Cipher,
  { app, club, owner, collection }: Collection,
  { member }: { member: string | null },
) {
  const cursors = cursorsFor(cipher, { purpose: 'changes cursor', of: [app, club, owner, collection], reader: member })
  return {
    of: cursors.of,
    /** Throws 400. */
    readPosition(cursor: string): Position {
      const position = cursors.readPosition(cursor)
      if (!position) throw errors.cursorInvalid()
      return position
    },
  }
}
