import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'
import { sqlState } from '../kernel/database-errors.ts'
import { countCurrent, endMissing } from './end.ts'
import type { KindName } from './kinds.ts'
import { kindOf } from './kinds.ts'
import type { Refusal } from './refusals.ts'
import { Refusals } from './refusals.ts'
import { applyRules, duplicates, rulesOf, sayRefused } from './rules.ts'
import { layoutOf } from './sql.ts'
import { stageRecords } from './stage.ts'
import { Conflict, writeStaged } from './write.ts'

/** A record as it came. `line` is a safe integer that names it to the caller: a line of a file, an index of a call. */
export interface Incoming {
  line: number
  record: unknown
}

export interface MergeOptions {
  /** The time at which memberships end, and of new records that leave theirs out. */
  now: Date
  /**
   * Whether to end what is stored of this kind and not among the records. A record that is refused counts as being among
   * them; if one has no readable key, nothing ends.
   */
  full?: boolean | undefined
  /** Whether to merge the other records when some are refused; else nothing is written then. */
  skipRefused?: boolean | undefined
  /** How a reason names another record; by its line alone by default. */
  nameOf?: ((line: number) => string) | undefined
  /** Called once for each refused record, in no order. */
  onRefused?: ((refusal: Refusal) => void) | undefined
  /** Called now and then with the number of records read so far. */
  onProgress?: ((records: number) => void) | undefined
}

/** Counts of records. */
export interface Merged {
  added: number
  changed: number
  /** The same as stored, or of a smaller version. */
  unchanged: number
  /** Only with `full`. */
  ended: number
  /** Only with `full`: what was stored and had not ended before. `ended / current` is the share to ask about. */
  current: number
  /** Each record once, for its first fault. */
  refused: { count: number; first: readonly Refusal[] }
}

/** Deadlock, serialisation failure, and references whose record has been removed meanwhile. */
const transient = new Set(['40P01', '40001', '23503'])
export const isTransient = (error: unknown) => error instanceof Conflict || transient.has(sqlState(error) ?? '')
const TRIES = 10

/**
 * Merges records of a kind into its table, in the caller's transaction (read committed): whether that is committed is the
 * caller's decision, so a dry run rolls back. Reads the records once and holds none of them. Throws errors of the database
 * and of the iterable; the transaction is then to be rolled back.
 */
export async function mergeKind(
  client: ClientBase,
  kind: KindName,
  records: AsyncIterable<Incoming> | Iterable<Incoming>,
  { now, full = false, skipRefused = false, nameOf = String, onRefused, onProgress }: MergeOptions,
): Promise<Merged> {
  const layout = layoutOf(kindOf(kind))
  const current = full ? await countCurrent(client, layout, now) : 0
  const refused = new Refusals(onRefused)
  const { count, allNamed } = await stageRecords(client, layout, records, {
    refuse: (refusal) => refused.add(refusal),
    onProgress,
  })
  const rules = [duplicates(layout, nameOf), ...rulesOf(layout)]
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

/** Repeats what fails because of another transaction, from a savepoint on. */
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
