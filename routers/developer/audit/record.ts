import { isDeepStrictEqual } from 'node:util'
import type { Database, Transaction } from '../../../prisma/client.ts'
import type { Transactional } from '../../../prisma/pg/execute.ts'
import { executeIn } from '../../../prisma/pg/execute.ts'
import { bool, instant, jsonText, nullable, statement, text } from '../../../prisma/pg/statement.ts'
import { errors } from '../../kernel/errors.ts'
import { DAY_MS, retryAfterSeconds } from '../../kernel/time.ts'
import type { Action, Noted } from './noted.ts'

/** An entry of a team's audit log. Never contains a secret, as the team's people read it. */
export interface Change<Before extends object = object, After extends object = object> {
  team: string
  action: Action
  target: string
  before?: Noted<Before> | null
  after?: Noted<After> | null
}

/** `person` is null for the operator, and for a `client` that changes something for its app. */
export interface Author {
  person: string | null
  client?: string
  at: Date
}

export type Note = <Before extends object, After extends object>(change: Change<Before, After>) => Promise<void>

/** Changes that a team's people can make in 24 hours, and its clients as many: an entry is stored for two years. */
const CHANGES_A_DAY = 1_000

/** A field's value as JSON: about 1 KB. */
const MAX_FIELD = 1_000

/** Runs a change and writes its audit entries in one transaction: both are stored, or neither. */
export const auditing = <Result>(
  db: Database,
  author: Author,
  work: (tx: Transaction, note: Note) => Promise<Result>,
): Promise<Result> => db.$transaction((tx) => work(tx, (change) => writeEntry(tx, author, change)))

const statements = {
  last: statement(
    'audit_last_of_day',
    `SELECT at FROM "AuditEntry" WHERE "teamId" = $team AND at > $since
        AND CASE WHEN $byClient THEN "clientId" ELSE "personId" END IS NOT NULL
      ORDER BY id DESC OFFSET ${CHANGES_A_DAY - 1} LIMIT 1`,
    { team: text, since: instant, byClient: bool },
    { at: instant },
  ),
  write: statement(
    'audit_write',
    `INSERT INTO "AuditEntry" ("teamId", "personId", "clientId", action, target, before, after, at)
      VALUES ($team, $person, $client, $action, $target, $before, $after, $at)`,
    {
      team: text,
      person: nullable(text),
      client: nullable(text),
      action: text,
      target: text,
      before: nullable(jsonText),
      after: nullable(jsonText),
      at: instant,
    },
    {},
  ),
}

/** Writes an entry in the transaction of the change. The team is locked. */
export async function writeEntry<Before extends object, After extends object>(
  tx: Transactional,
  author: Author,
  { team, action, target, before, after }: Change<Before, After>,
) {
  await refuseBeyond(tx, team, author)
  const { person, client = null, at } = author
  const values = { team, person, client, action, target, before: toText(before), after: toText(after), at }
  await executeIn(tx, statements.write, values)
}

const toText = (value: object | null | undefined) =>
  value ? JSON.stringify(Object.fromEntries(shortFields(value))) : null

const shortFields = (value: object) => Object.entries(value).map(([name, field]) => [name, short(field)] as const)

/** Truncates long texts; replaces a list or map by its count. */
function short(value: unknown): unknown {
  if (JSON.stringify(value ?? null).length <= MAX_FIELD) return value
  if (typeof value === 'string') return `${[...value].slice(0, MAX_FIELD).join('')}…`
  const shorter = Array.isArray(value) ? value : Object.fromEntries(shortFields(value as object))
  if (JSON.stringify(shorter).length <= MAX_FIELD) return shorter
  return { count: Object.keys(value as object).length }
}

/** Throws 429 when the team's people, or its clients, have reached their daily limit of changes. The team is locked. */
export async function refuseBeyond(tx: Transactional, team: string, { person, client, at }: Author) {
  if (person === null && client === undefined) return
  const since = at.getTime() - DAY_MS
  const [last] = await executeIn(tx, statements.last, { team, since, byClient: client !== undefined })
  if (!last) return
  throw errors.changesLimited(retryAfterSeconds(last.at.getTime() - since))
}

/** They say nothing about a change. */
const UNNOTED = ['id', 'team', 'version'] as const

type Differing<Row> = Partial<Record<Exclude<keyof Row, (typeof UNNOTED)[number]>, unknown>>

/** The fields that differ, before and after; null without a difference. For long lists, the removed and the added items. */
export function difference<Row extends { version: number }>(before: Row, after: Row) {
  const names = (Object.keys(before) as (keyof Row)[]).filter(
    (name) => !UNNOTED.some((one) => one === name) && !isDeepStrictEqual(before[name], after[name]),
  )
  if (names.length === 0) return null
  const of = (row: Row, other: Row): Differing<Row> =>
    Object.fromEntries(names.map((name) => [name, without(row[name], other[name])])) as Differing<Row>
  return { before: of(before, after), after: of(after, before) }
}

const without = (value: unknown, other: unknown) =>
  Array.isArray(value) && Array.isArray(other) && JSON.stringify([value, other]).length > MAX_FIELD
    ? value.filter((item) => !other.includes(item))
    : value

export const toAuthor = ({ core, person }: { core: { now: () => number }; person: string }): Author => ({
  person,
  at: new Date(core.now()),
})
