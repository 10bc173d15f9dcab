import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { sqlState } from '../kernel/database-errors.ts'
import { countCurrent, endMissing } from './end.ts'
import type { RecordTypeName } from './record-types.ts'
import { findRecordType } from './record-types.ts'
import type { Refusal } from './refusals.ts'
import { Refusals } from './refusals.ts'
import { applyRules, duplicates, listRules, sayRefused } from './rules.ts'
import type { Owner } from './sql.ts'
import { toLayout } from './sql.ts'
import { stageRecords } from './stage.ts'
import { Conflict, writeStaged } from './write.ts'

/** A record as received. `line` is a safe integer that identifies it to the caller: a line of a file, an index of a call. */
export interface Incoming {
  line: number
  record: unknown
}

export interface MergeOptions {
  /** By default the platform, which cannot change rows of test clubs. */
  owner?: Owner | undefined
  /** When memberships end, and the default for times of new records. */
  now: Date
  /**
   * Also ends the stored records of this record type that are not among these. A refused record counts as present; if one has no
   * readable key, nothing ends.
   */
  full?: boolean | undefined
  /** Merges the other records when some are refused; otherwise nothing is written. */
  skipRefused?: boolean | undefined
  /** The name of another record in a reason; default: its line. */
  nameLine?: ((line: number) => string) | undefined
  /** Called once per refused record, in no particular order. */
  onRefused?: ((refusal: Refusal) => void) | undefined
  /** Called from time to time with the number of records read. */
  onProgress?: ((records: number) => void) | undefined
}

export interface Merged {
  added: number
  changed: number
  /** Equal to the stored record, or of a lower version. */
  unchanged: number
  /** Only with `full`. */
  ended: number
  /** Only with `full`: stored records that had not ended before. `ended / current` is the share to ask about. */
  current: number
  /** Each record once, with its first fault. */
  refused: { count: number; first: readonly Refusal[] }
}

/** Deadlock, serialisation failure, and references to a record that was removed meanwhile. */
const transient = new Set(['40P01', '40001', '23503'])
export const isTransient = (error: unknown) => error instanceof Conflict || transient.has(sqlState(error) ?? '')
const TRIES = 10

/**
 * Merges records of a record type into its table, in the caller's transaction (read committed). The caller decides whether to
 * commit, so a dry run rolls back. Reads the records once, as a stream. Throws errors of the database and of the iterable; the
 * transaction must then be rolled back.
 */
export async function mergeRecords(
  client: ClientBase,
  recordType: RecordTypeName,
  records: AsyncIterable<Incoming> | Iterable<Incoming>,
  { owner, now, full = false, skipRefused = false, nameLine = String, onRefused, onProgress }: MergeOptions,
): Promise<Merged> {
  const layout = toLayout(findRecordType(recordType), owner)
  const current = full ? await countCurrent(client, layout, now) : 0
  const refused = new Refusals(onRefused)
  const { count, allNamed } = await stageRecords(client, layout, records, {
    refuse: (refusal) => refused.add(refusal),
    onProgress,
  })
  const rules = [duplicates(layout, nameLine), ...listRules(layout)]
  await client.query(
    'CREATE TEMP TABLE refused (line bigint PRIMARY KEY, rule int, value text, other text) ON COMMIT DROP',
  )
  await applyRules(client, rules, 0, 1)

  const writes = (found: number) => skipRefused || refused.count + found === 0
  const written = await repeated(client, () => writeStaged(client, layout, { now, rules, writes }))
  await sayRefused(client, rules, (refusal) => refused.add(refusal))
  const ended = written && full && allNamed ? await repeated(client, () => endMissing(client, layout, now)) : 0
  const tables = ['stage', 'refused', 'incoming', ...layout.children.map(({ name }) => `"incoming_${name}"`)]
  await client.query(`DROP TABLE ${tables.join(', ')}`)

  const { added, changed } = written ?? { added: 0, changed: 0 }
  const unchanged = written ? count - refused.count - added - changed : 0
  return { added, changed, unchanged, ended, current, refused }
}

/** Repeats work that fails because of another transaction, from a savepoint. */
export async function repeated<T>(client: ClientBase, work: () => Promise<T>): Promise<T> {
  await client.query('SAVEPOINT directory')
  for (let tries = 1; ; tries++) {
    try {
      const result = await work()
      await client.query('RELEASE SAVEPOINT directory')
      return result
    } catch (error) {
      if (!isTransient(error) || tries === TRIES) throw error
      await client.query('ROLLBACK TO SAVEPOINT directory')
      await sleep(Math.random() * 10 * tries)
    }
  }
}
