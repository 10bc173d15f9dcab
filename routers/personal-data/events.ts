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
      AND (EXISTS (SELECT FROM unnest($ids::text[]) AS name WHERE strpos(batch.body, name) > 0)
        OR cardinality($addresses::text[]) > 0 AND EXISTS (
          SELECT FROM (SELECT lower(batch.body) AS body OFFSET 0) read, unnest($addresses::text[]) AS name
          WHERE strpos(read.body, name) > 0)) RETURNING 1
  )
  SELECT "publishedAt" AS at, "appId" AS app, id, (SELECT count(*) FROM removed) AS removed
  FROM batch ORDER BY "publishedAt" DESC, "appId" DESC, id DESC LIMIT 1`,
  { at: timestamp, app: text, id: text, ids: texts, addresses: texts },
  { at: timestamp, app: text, id: text, removed: int },
)

export interface Names {
  person: string
  /** In upper or lower case, in contrast to the id. */
  addresses: readonly string[]
}

/**
 * Removes the published events in which one of these names is a whole string, or the name of a field, with their deliveries, also
 * pending ones. Returns the number of events.
 */
export const removeEvents = (db: Database, names: Names): Promise<number> =>
  scan('-infinity', names, (values) => retryingDeadlocks(() => db.execute(removeBatch, values)))

/** The same in a transaction, of those published from a time on. */
export const removeNewEvents = (client: ClientBase, names: Names, since: string): Promise<number> =>
  scan(since, names, (values) => executeIn(client, removeBatch, values))

type Batch = ReturnType<typeof removeBatch.decode>
type Remove = (values: Parameters<typeof removeBatch.encode>[0]) => Promise<Batch[]>

async function scan(since: string, { person, addresses }: Names, remove: Remove): Promise<number> {
  const ids = [...new Set(spellings(person))]
  // In the collation "C", that of the bodies, lower() knows ASCII alone.
  const letters = addresses.flatMap((one) => [one, one.toLowerCase(), one.toUpperCase()])
  const folded = [
    ...new Set(letters.flatMap(spellings).map((one) => one.replace(/[A-Z]+/g, (part) => part.toLowerCase()))),
  ]
  let sum = 0
  for (let from = { at: since, app: '', id: '' }; ; ) {
    const [last] = await remove({ ...from, ids, addresses: folded })
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
