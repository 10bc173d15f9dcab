import type { ClientBase } from 'pg'
import type { Database } from '../../prisma/client.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'

/** Stands where the address of an erased person was. */
const ERASED = '(erased)'

/** Texts that people of teams and clubs type, by table. */
export const typedTexts = {
  App: ['name', 'description', 'homepage', 'wanted', 'refusal'],
  Client: ['name', 'purpose', 'wanted', 'refusal'],
  ClubApproval: ['reason'],
  Mail: ['about'],
  Team: ['name'],
} as const

/** Audit entries per statement: these are read within the statement timeout of 5 s. */
const BATCH = 20_000

export interface Mentioned {
  person: string
  /** Null without one. */
  address: string | null
}

/**
 * Removes what teams have written about a person: their e-mail address in texts, and their id where the audit log has it as the one
 * whom a change was about. Goes through the audit log of all teams, batch by batch.
 */
export async function removeMentions(db: Database, { person, address }: Mentioned): Promise<void> {
  if (address !== null) await retryingDeadlocks(() => db.inTransaction((client) => replaceInTexts(client, address)))
  for (let last: string | null = '0'; last !== null; ) {
    const from: string = last
    last = await db.inTransaction((client) => replaceInAudit(client, from, { person, address }))
  }
}

/** The address of one column, as JSON, where it is in it. A first look: the address may be the end of a longer one. */
const has = (json: string, address: string) => `strpos(lower(${json}::text), lower(${address}::text)) > 0`

async function replaceInTexts(client: ClientBase, address: string) {
  for (const [table, columns] of Object.entries(typedTexts)) {
    const texts = `json_build_object(${columns.map((column) => `'${column}', "${column}"`).join(', ')})`
    const { rows } = await client.query<{ id: string; texts: Record<string, unknown> }>(
      `SELECT id, ${texts} AS texts FROM "${table}" WHERE ${has(texts, '$1')} ORDER BY id FOR UPDATE`,
      [address],
    )
    const version = table === 'App' || table === 'Client' ? `, version = "${table}".version + 1` : ''
    for (const { id, texts } of rows) {
      const changed = JSON.stringify(without(texts, address))
      if (changed === JSON.stringify(texts)) continue
      await client.query(
        `UPDATE "${table}" SET ${columns.map((column) => `"${column}" = new."${column}"`).join(', ')}${version}
         FROM jsonb_populate_record(NULL::"${table}", $2) AS new WHERE "${table}".id = $1`,
        [id, changed],
      )
    }
  }
}

/** The last entry of the batch that begins after one; null when there was none. */
async function replaceInAudit(client: ClientBase, from: string, { person, address }: Mentioned) {
  type Entry = { id: string; before: unknown; after: unknown }
  const { rows } = await client.query<{ last: string | null; found: Entry[] | null }>(
    `SELECT max(id)::text AS last, json_agg(json_build_object('id', id::text, 'before', before, 'after', after))
       FILTER (WHERE target = $2 AND action LIKE 'person.%' OR ${has('json_build_array(before, after)', '$3')}) AS found
     FROM (SELECT * FROM "AuditEntry" WHERE id > $1 ORDER BY id LIMIT ${BATCH}) batch`,
    [from, person, address],
  )
  const { last, found } = rows[0]!
  if (found) await client.query(`SET LOCAL audit.erase = 'on'`)
  for (const { id, before, after } of found ?? []) {
    await client.query(
      `UPDATE "AuditEntry" SET target = CASE WHEN target = $2 AND action LIKE 'person.%' THEN '' ELSE target END,
         before = $3, after = $4 WHERE id = $1`,
      [id, person, ...[before, after].map((value) => value && JSON.stringify(without(value, address)))],
    )
  }
  return last
}

const letter = '[\\p{L}\\p{M}\\p{N}_%+-]'

/** The same JSON without the address in its texts, in upper or lower case; longer addresses that end in it stay. */
function without(json: unknown, address: string | null): unknown {
  if (address === null) return json
  const escaped = address.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const whole = new RegExp(`(?<!${letter}|${letter}\\.)${escaped}(?!${letter}|\\.${letter})`, 'giu')
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(whole, ERASED)
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one)]))
  }
  return walk(json)
}
