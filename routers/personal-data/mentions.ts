import type { ClientBase } from 'pg'
import type { Database } from '../../prisma/client.ts'
import { executeIn } from '../../prisma/pg/execute.ts'
import { bigint, json, jsonArray, jsonText, nullable, statement, text } from '../../prisma/pg/statement.ts'
import { retryingDeadlocks } from '../kernel/database-errors.ts'

/** Stands where the address of an erased person was. Never longer than it: the text may have reached the limit of its column. */
const formatMark = (address: string) => ([...address].length < '(erased)'.length ? '…' : '(erased)')

/** Texts that people of teams and clubs type, by table. */
export const typedTexts = {
  App: ['name', 'description', 'homepage', 'wanted', 'refusal'],
  ChildRequest: ['reason'],
  Client: ['name', 'purpose', 'wanted', 'refusal'],
  ClubApproval: ['reason'],
  Mail: ['about'],
  Team: ['name'],
  TeamRequest: ['name', 'purpose', 'reason'],
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
  for (let last: bigint | null = 0n; last !== null; ) {
    const from: bigint = last
    last = await db.inTransaction((client) => replaceInAudit(client, from, { person, address }))
  }
}

/** The address of one column, as JSON, where it is in it. A first look: the address may be the end of a longer one. */
const has = (json: string, address: string) => `strpos(lower(${json}::text), lower(${address}::text)) > 0`

const typedStatements = Object.entries(typedTexts).map(([table, columns]) => {
  const texts = `json_build_object(${columns.map((column) => `'${column}', "${column}"`).join(', ')})`
  const version = table === 'App' || table === 'Client' ? `, version = "${table}".version + 1` : ''
  return {
    find: statement(
      `mentions_find_${table}`,
      `SELECT id, ${texts} AS texts FROM "${table}" WHERE ${has(texts, '$address')} ORDER BY id FOR UPDATE`,
      { address: text },
      { id: text, texts: json<unknown>() },
    ),
    replace: statement(
      `mentions_replace_${table}`,
      `UPDATE "${table}" SET ${columns.map((column) => `"${column}" = new."${column}"`).join(', ')}${version}
       FROM jsonb_populate_record(NULL::"${table}", $texts) AS new WHERE "${table}".id = $id`,
      { id: text, texts: jsonText },
      {},
    ),
  }
})

async function replaceInTexts(client: ClientBase, address: string) {
  for (const { find, replace } of typedStatements) {
    for (const { id, texts } of await executeIn(client, find, { address })) {
      const changed = JSON.stringify(without(texts, address))
      if (changed !== JSON.stringify(texts)) await executeIn(client, replace, { id, texts: changed })
    }
  }
}

const audit = {
  find: statement(
    'mentions_find_audit',
    `SELECT max(id) AS last, json_agg(json_build_object('id', id::text, 'before', before, 'after', after))
       FILTER (WHERE target = $person AND action LIKE 'person.%' OR ${has('json_build_array(before, after)', '$address')}) AS found
     FROM (SELECT * FROM "AuditEntry" WHERE id > $after ORDER BY id LIMIT ${BATCH}) batch`,
    { after: bigint, person: text, address: nullable(text) },
    { last: nullable(bigint), found: nullable(jsonArray<{ id: string; before: unknown; after: unknown }>()) },
  ),
  allow: statement('mentions_allow', `SELECT set_config('audit.erase', 'on', true) AS set`, {}, { set: text }),
  replace: statement(
    'mentions_replace_audit',
    `UPDATE "AuditEntry" SET target = CASE WHEN target = $person AND action LIKE 'person.%' THEN '' ELSE target END,
       before = $before, after = $after WHERE id = $id`,
    { id: bigint, person: text, before: nullable(json<unknown>()), after: nullable(json<unknown>()) },
    {},
  ),
}

/** The last entry of the batch that begins after one; null when there was none. */
async function replaceInAudit(client: ClientBase, after: bigint, { person, address }: Mentioned) {
  const [batch] = await executeIn(client, audit.find, { after, person, address })
  const { last, found } = batch!
  if (found) await executeIn(client, audit.allow, {})
  for (const { id, ...entry } of found ?? []) {
    const [before, after] = [without(entry.before, address), without(entry.after, address)]
    await executeIn(client, audit.replace, { id: BigInt(id), person, before, after })
  }
  return last
}

const letter = '[\\p{L}\\p{M}\\p{N}_%+-]'

/** The same JSON without the address in its texts, in upper or lower case; longer addresses that end in it stay. */
function without(json: unknown, address: string | null): unknown {
  if (address === null) return json
  const escaped = address.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  const whole = new RegExp(`(?<!${letter}|${letter}\\.)${escaped}(?!${letter}|\\.${letter})`, 'giu')
  const mark = formatMark(address)
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return value.replace(whole, mark)
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, walk(one)]))
  }
  return walk(json)
}
