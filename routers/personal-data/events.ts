import type { ClientBase } from 'pg'
import type { Database } from '../../prisma/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { int, statement, text, texts, timestamp } from '../../prisma/pg/statement.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'

/** Events per statement: with the largest bodies, these are read within the statement timeout of 5 s. */
const BATCH = 1_000

const removeBatch = statement(
  'events_remove_named',
  `WITH batch AS MATERIALIZED (
    SELECT "appId", id, "publishedAt", body FROM "PublishedEvent"
    WHERE ("publishedAt", "appId", id) > ($at::timestamptz, $app, $id) ORDER BY "publishedAt", "appId", id LIMIT ${BATCH}
  ), removed AS (
    DELETE FROM "PublishedEvent" event USING batch
    WHERE event."appId" = batch."appId" AND event.id = batch.id
      AND EXISTS (SELECT FROM unnest($names::text[]) AS name WHERE strpos(batch.body, name) > 0) RETURNING 1
  )
  SELECT "publishedAt" AS at, "appId" AS app, id, (SELECT count(*) FROM removed) AS removed
  FROM batch ORDER BY "publishedAt" DESC, "appId" DESC, id DESC LIMIT 1`,
  { at: timestamp, app: text, id: text, names: texts },
  { at: timestamp, app: text, id: text, removed: int },
)

/**
 * Removes the published events in which one of these names is a whole string, or the name of a field, with their deliveries, also
 * pending ones. Returns the number of events.
 */
export const removeEvents = (db: Database, names: readonly string[]): Promise<number> =>
  scan('-infinity', names, (values) => retryingDeadlocks(() => db.execute(removeBatch, values)))

/** The same in a transaction, of those published from a time on. */
export const removeNewEvents = (client: ClientBase, names: readonly string[], since: string): Promise<number> =>
  scan(since, names, (values) => executeIn(client, removeBatch, values))

type Batch = ReturnType<typeof removeBatch.decode>
type Remove = (values: Parameters<typeof removeBatch.encode>[0]) => Promise<Batch[]>

async function scan(since: string, names: readonly string[], remove: Remove): Promise<number> {
  const strings = [...new Set(names.flatMap(spellings))]
  let sum = 0
  for (let from = { at: since, app: '', id: '' }; ; ) {
    const [last] = await remove({ ...from, names: strings })
    if (!last) return sum
    sum += last.removed
    from = last
  }
}

/** A string as serialisers write it in JSON, where receivers get the text as it was published. */
function spellings(text: string): string[] {
  const plain = JSON.stringify(text)
  const inAscii = (hex: (code: string) => string) =>
    plain.replace(/[^ -~]/g, (unit) => `\\u${hex(unit.charCodeAt(0).toString(16).padStart(4, '0'))}`)
  const all = [plain, inAscii((code) => code), inAscii((code) => code.toUpperCase())]
  return all.flatMap((one) => [one, one.replaceAll('/', '\\/')])
}
