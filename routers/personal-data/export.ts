import type { ClientBase } from 'pg'
import { int, statement, text } from '../../prisma/pg/statement.ts'
import { errors } from '../kernel/errors.ts'
import { lists, profile } from './sections.ts'

/** Bytes of the values that may be large, of storage entries and answers: less than the document, but known before one is read. */
export const valueBytes = statement(
  'personal_data_bytes',
  `SELECT (
      (SELECT coalesce(sum(octet_length(value)), 0) FROM "StorageEntry" WHERE "memberId" = $person) +
      (SELECT coalesce(sum(octet_length(value)), 0) FROM "Answer" JOIN "QuizResult" ON id = "resultId" WHERE "personId" = $person)
    )::float8 AS bytes`,
  { person: text },
  { bytes: int },
)

/** Rows are read in batches of at most this many, and of about this many characters. */
const MAX_ROWS = 1_000
const BATCH_CHARACTERS = 256 * 1024

/**
 * A person's data as the JSON of `PersonalData`, in pieces, of one moment. For a transaction that has just begun; holds one
 * batch of rows at a time; `fillMailboxes` has run. Throws 404.
 */
export async function* personalDataJson(client: ClientBase, person: string, now: Date): AsyncGenerator<string> {
  // The one who reads may be slow.
  await client.query(`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
    SET LOCAL idle_in_transaction_session_timeout = 0`)
  const found = await client.query<{ json: string }>(profile, [person])
  if (found.rows.length === 0) throw errors.personUnknown()
  yield `{"exportedAt":"${now.toISOString()}",\n"profile":${found.rows[0]!.json}`
  for (const [name, sql] of Object.entries(lists)) {
    yield `,\n"${name}":[`
    let separator = '\n'
    for await (const batch of batches(client, sql, sql.includes('$2') ? [person, now] : [person])) {
      yield separator + batch.join(',\n')
      separator = ',\n'
    }
    yield ']'
  }
  yield '}\n'
}

async function* batches(client: ClientBase, sql: string, values: unknown[]): AsyncGenerator<string[]> {
  await client.query(`DECLARE part NO SCROLL CURSOR FOR ${sql}`, values)
  for (let count = 1; ; ) {
    const { rows } = await client.query<{ json: string }>(`FETCH ${count} FROM part`)
    if (rows.length > 0) yield rows.map(({ json }) => json)
    if (rows.length < count) break
    const characters = rows.reduce((sum, { json }) => sum + json.length, 0)
    count = Math.max(1, Math.min(MAX_ROWS, count * 2, Math.floor((BATCH_CHARACTERS * count) / characters)))
  }
  await client.query('CLOSE part')
}
