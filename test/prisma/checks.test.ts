import { beforeAll, describe, expect, it } from 'vitest'
import { migratedDatabase, query } from '../support/databases.ts'

const bounded = 'the procedures that write it bound its texts, and its times are of the clock of the service'
const typed =
  'people and operators type into it, and routers/clients/registration.ts and routers/clients bound what they type'
const own = 'nothing in it comes from outside'

/** Tables, or columns of them, whose values need no CHECK. */
const unchecked: Readonly<Record<string, string>> = {
  Team: typed,
  TeamInvitation: typed,
  App: typed,
  Client: typed,
  AuditEntry: bounded,
  Consent: bounded,
  Delivery: bounded,
  EventKind: bounded,
  IdempotencyRecord: bounded,
  LoginCode: bounded,
  LoginIdentity: bounded,
  OauthRecord: bounded,
  PublishedEvent: bounded,
  RefusedRequest: bounded,
  Subscription: bounded,
  'StorageEntry.value': 'the quota bounds it',
  'Answer.value': 'it is part of a body, which is at most 1 MiB',
  'TeamMember.since': own,
  ClientUsage: own,
  ExternalKeySet: 'one row for each TOKEN_ISSUER that was ever set',
  Housekeeping: own,
  SecretsKeyCheck: own,
  SigningKey: own,
  StorageCollection: 'triggers keep it, from StorageEntry',
}

interface Column {
  table: string
  column: string
  type: string
  /** Part of the primary key. */
  isKey: boolean
  /** As PostgreSQL writes it in an expression. */
  name: string
  /** The definitions of the CHECKs that name the column. */
  checks: string
}

/** Of the tables of this service; without those columns that a foreign key bounds. */
const columnsOf = (url: string): Promise<Column[]> =>
  query(
    url,
    `SELECT c.relname::text AS table, attname::text AS column, format_type(atttypid, NULL) AS type, quote_ident(attname) AS name,
       EXISTS (SELECT FROM pg_constraint WHERE conrelid = c.oid AND contype = 'p' AND attnum = ANY (conkey)) AS "isKey",
       (SELECT coalesce(string_agg(pg_get_constraintdef(oid), E'\\n'), '') FROM pg_constraint
        WHERE conrelid = c.oid AND contype = 'c' AND attnum = ANY (conkey)) AS checks
     FROM pg_class c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0 AND NOT attisdropped
     WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace AND c.relname NOT LIKE '\\_%'
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = c.oid AND contype = 'f' AND attnum = ANY (conkey))
     ORDER BY 1, attnum`,
  )

const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** What the CHECKs of a column have to say, as tables of the platform have it, and how it is written; by type. */
function wanted({ type, isKey, name }: Column): { sql: string; pattern: RegExp } | undefined {
  const quoted = literal(name)
  const bounds = `(?:id_fits|octet_length)\\(${quoted}\\)|\\(${quoted} (?:~|=) `
  switch (type) {
    case 'text':
      return isKey
        ? { sql: `id_fits(${name})`, pattern: new RegExp(bounds) }
        : { sql: `texts_fit(${name})`, pattern: new RegExp(`texts_fit\\([^()]*[[ ]${quoted}[,\\]]|${bounds}`) }
    case 'text[]':
      return { sql: `texts_fit(VARIADIC ${name})`, pattern: new RegExp(`texts_fit\\(VARIADIC ${quoted}\\)`) }
    case 'timestamp with time zone':
      return { sql: `time_fits(${name})`, pattern: new RegExp(`time_fits\\(${quoted}\\)`) }
    case 'date':
      return {
        sql: `${name} BETWEEN '0001-01-01' AND '9999-12-31'`,
        pattern: new RegExp(`\\(${quoted} >= '0001-01-01'::date\\) AND \\(${quoted} <= '9999-12-31'::date\\)`),
      }
    case 'double precision':
      return {
        sql: `${name} NOT IN ('NaN', 'Infinity', '-Infinity')`,
        pattern: new RegExp(`\\(${quoted} (?:<> ALL \\(ARRAY\\['NaN'|<= )`),
      }
  }
}

const missing = (columns: readonly Column[]) =>
  columns.flatMap((column) => {
    const check = wanted(column)
    const isUnchecked = [column.table, `${column.table}.${column.column}`].some((place) => place in unchecked)
    if (!check || isUnchecked || check.pattern.test(column.checks)) return []
    return [`${column.table}.${column.column} needs CHECK (${check.sql}), as its siblings have it`]
  })

describe('the CHECKs of each table', () => {
  let url: string
  beforeAll(async () => {
    url = await migratedDatabase(() => {})
  })

  it('bound its ids, texts, times and numbers as those of its siblings do', async () => {
    const columns = await columnsOf(url)
    expect(missing(columns)).toEqual([])
    const places = columns.flatMap(({ table, column }) => [table, `${table}.${column}`])
    expect(Object.keys(unchecked).filter((place) => !places.includes(place))).toEqual([])
  })

  it('are missed where a new table has none', async () => {
    await query(
      url,
      `CREATE TABLE "Badge" (id text PRIMARY KEY, "personId" text NOT NULL REFERENCES "Person", title text, tags text[],
         "awardedAt" timestamptz(3), day date, score float8, place int)`,
    )
    const badge = async () => missing((await columnsOf(url)).filter(({ table }) => table === 'Badge'))
    const named = ['id', 'title', 'tags', 'awardedAt', 'day', 'score'].map((column) =>
      expect.stringMatching(`^Badge.${column} needs CHECK`),
    )
    expect(await badge()).toEqual(named)
    await query(
      url,
      `ALTER TABLE "Badge" ADD CHECK (id_fits(id)), ADD CHECK (texts_fit(title)), ADD CHECK (texts_fit(VARIADIC tags)),
         ADD CHECK (time_fits("awardedAt")), ADD CHECK (day BETWEEN '0001-01-01' AND '9999-12-31'),
         ADD CHECK (score NOT IN ('NaN', 'Infinity', '-Infinity'))`,
    )
    expect(await badge()).toEqual([])
  })
})
