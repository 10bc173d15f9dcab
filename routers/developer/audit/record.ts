import { isDeepStrictEqual } from 'node:util'
import { DbNull } from '@prisma/client-runtime-utils'
import type { Database, Transaction } from '../../../prisma/client.ts'
import type { Prisma } from '../../../prisma/generated/client.ts'
import { errors } from '../../kernel/errors.ts'
import { DAY_MS } from '../../kernel/time.ts'

/** An entry of a team's audit log. Never contains a secret, as the team's people read it. */
export interface Change {
  team: string
  /** For example `client.update`. */
  action: string
  target: string
  before?: object | null
  after?: object | null
}

/** `person` is null for the operator, and for a `client` that changes something for its app. */
export interface Author {
  person: string | null
  client?: string
  at: Date
}

type Note = (change: Change) => Promise<void>

/** Changes that a team's people can make in 24 hours, and its clients as many: an entry is stored for two years. */
const CHANGES_A_DAY = 1_000

/** A field's value as JSON: about 1 KB. */
const MAX_FIELD = 1_000

/** Runs a change and writes its audit entries in one transaction: both are stored, or neither. */
export const auditing = <Result>(
  db: Database,
  author: Author,
  work: (tx: Transaction, note: Note) => Promise<Result>,
): Promise<Result> => db.$transaction((tx) => work(tx, (change) => write(tx, author, change)))

const write = async (tx: Transaction, author: Author, { team, before, after, ...rest }: Change) => {
  await refuseBeyond(tx, team, author)
  const { person: personId, client: clientId = null, at } = author
  const data = { ...rest, teamId: team, personId, clientId, at, before: json(before), after: json(after) }
  await tx.auditEntry.create({ data, select: { id: true } })
}

const json = (value: object | null | undefined) =>
  value ? (Object.fromEntries(shortFields(value)) as Prisma.InputJsonObject) : DbNull

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
async function refuseBeyond(tx: Transaction, teamId: string, { person, client, at }: Author) {
  if (person === null && client === undefined) return
  const author = client === undefined ? { personId: { not: null } } : { clientId: { not: null } }
  const where = { teamId, ...author, at: { gt: new Date(at.getTime() - DAY_MS) } }
  const [first] = await tx.auditEntry.findMany({
    where,
    orderBy: { id: 'desc' },
    skip: CHANGES_A_DAY - 1,
    take: 1,
    select: { at: true },
  })
  if (!first) return
  throw errors.changesLimited(Math.max(1, Math.ceil((first.at.getTime() + DAY_MS - at.getTime()) / 1_000)))
}

/** The fields that differ, before and after; null without a difference. For long lists, the removed and the added items. */
export function difference<Row extends { version: number }>(before: Row, after: Row) {
  const names = (Object.keys(before) as (keyof Row)[]).filter(
    (name) => name !== 'version' && !isDeepStrictEqual(before[name], after[name]),
  )
  if (names.length === 0) return null
  const of = (row: Row, other: Row) => Object.fromEntries(names.map((name) => [name, without(row[name], other[name])]))
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
