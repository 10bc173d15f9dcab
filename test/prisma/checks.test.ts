import { beforeAll, describe, expect, it } from 'vitest'
import { findCheck, withChecks } from '../../prisma/tools/checks.ts'
import { migratedDatabase, query } from '../support/databases.ts'

const bounded = 'the procedures that write it bound its texts, and its times are of the clock of the service'
const typed =
  'people and operators type into it, and routers/developer/shared/registration.ts and routers/developer bound what they type'
const written = 'storage_write sets it, or storage_check_entry'
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
  MemberChange: 'its ids and times are copied from tables that have CHECKs',
  StorageChange: 'triggers copy it from entries',
  'StorageEntry.owner': written,
  'StorageEntry.collection': written,
  'StorageEntry.key': written,
  'StorageEntry.value': 'the quota bounds it',
  'StorageEntry.updatedAt': written,
  'StorageEntry.createdBy': written,
  'StorageEntry.updatedBy': written,
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

/** The columns of this service's tables, without those that a foreign key bounds. */
const readColumns = (url: string): Promise<Column[]> =>
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

/** How PostgreSQL writes the CHECK of a column, or a stricter one; by type. */
function findPattern({ type, isKey, name }: Column): RegExp | undefined {
  const quoted = literal(name)
  const bounds = `(?:id_fits|octet_length)\\(${quoted}\\)|\\(${quoted} (?:~|=) `
  switch (type) {
    case 'text':
      return new RegExp(isKey ? bounds : `texts_fit\\([^()]*[[ ]${quoted}[,\\]]|${bounds}`)
    case 'text[]':
      return new RegExp(`texts_fit\\(VARIADIC ${quoted}\\)`)
    case 'timestamp with time zone':
      return new RegExp(`time_fits\\(${quoted}\\)`)
    case 'date':
      return new RegExp(`\\(${quoted} >= '0001-01-01'::date\\) AND \\(${quoted} <= '9999-12-31'::date\\)`)
    case 'double precision':
      return new RegExp(`\\(${quoted} (?:<> ALL \\(ARRAY\\['NaN'|<= )`)
  }
}

const missing = (columns: readonly Column[]) =>
  columns.flatMap((column) => {
    const pattern = findPattern(column)
    const isUnchecked = [column.table, `${column.table}.${column.column}`].some((place) => place in unchecked)
    if (!pattern || isUnchecked || pattern.test(column.checks)) return []
    return [
      `${column.table}.${column.column} needs CHECK (${findCheck(column.type, column.name, column.isKey)}), as its siblings have it`,
    ]
  })

describe('the CHECKs of each table', () => {
  let url: string
  beforeAll(async () => {
    url = await migratedDatabase(() => {})
  })

  it('bound its ids, texts, times and numbers as those of its siblings do', async () => {
    const columns = await readColumns(url)
    expect(missing(columns)).toEqual([])
    const places = columns.flatMap(({ table, column }) => [table, `${table}.${column}`])
    expect(Object.keys(unchecked).filter((place) => !places.includes(place))).toEqual([])
  })

  it('are missed where a new table has none, and made by the migration tool', async () => {
    const sql = (table: string) => `CREATE TABLE "${table}" (
    "id" TEXT NOT NULL,
    "personId" TEXT NOT NULL,
    "title" TEXT NOT NULL DEFAULT 'a, b',
    "tags" TEXT[],
    "awardedAt" TIMESTAMPTZ(3),
    "day" DATE,
    "score" DOUBLE PRECISION,
    "place" INTEGER,

    CONSTRAINT "${table}_pkey" PRIMARY KEY ("id")
);
ALTER TABLE "${table}" ADD COLUMN     "note" TEXT;
ALTER TABLE "${table}" ADD CONSTRAINT "${table}_personId_fkey" FOREIGN KEY ("personId") REFERENCES "Person"("id");`
    await query(url, sql('Without'))
    await query(url, withChecks(sql('With')))
    const columns = await readColumns(url)
    const named = ['id', 'title', 'tags', 'awardedAt', 'day', 'score', 'note'].map((column) =>
      expect.stringMatching(`^Without.${column} needs CHECK`),
    )
    expect(missing(columns)).toEqual(named)
    await query(url, `INSERT INTO "Person" (id, "firstName", "lastName", email) VALUES ('p', 'P', 'P', '')`)
    await query(url, `INSERT INTO "With" (id, "personId") VALUES ('a', 'p')`)
    expect(await query(url, `SELECT title, note FROM "With"`)).toEqual([{ title: 'a, b', note: null }])
  })
})
