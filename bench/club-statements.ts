import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { Statement } from '../prisma/pg/statement.ts'
import { statements } from '../routers/storage/statements.ts'
import { ENTRIES, VALUE } from './data/rows.ts'

/** The key by which deploy/citus.sql distributes, in as many as the bench has tenants. */
const CLUBS = 96
const QUOTA = '10485760'
const MAX_BYTES = '10485760'

/** An app with entries in each club. */
export const clubRows = `
  CREATE TEMPORARY VIEW one AS SELECT 'club-' || n AS id FROM generate_series(0, ${CLUBS - 1}) n;
  INSERT INTO "Organisation" (id, kind, name) VALUES ('provider', 'provider', 'Provider');
  INSERT INTO "Organisation" (id, kind, name) SELECT id, 'club', id FROM one;
  INSERT INTO "Person" (id, "firstName", "lastName", email, birthday)
    VALUES ('member', 'Mia', 'Member', 'mia@example.org', '1970-01-01');
  INSERT INTO "Membership" ("organisationId", "personId") SELECT id, 'member' FROM one;
  INSERT INTO "Team" (id, name, level) VALUES ('team', 'team', 'developer');
  INSERT INTO "App" (id, name, "teamId", "providerId") VALUES ('app', 'app', 'team', 'provider');
  SELECT put.outcome FROM one, generate_series(0, ${ENTRIES - 1}) n,
    storage_write('app', one.id, '', 'bench', 'key-' || n, '${VALUE}', gen_random_uuid(), now(), ${QUOTA}, NULL, NULL, NULL, false) put;
  DROP VIEW one`

export type Run = (pool: pg.Pool, i: number) => Promise<unknown>

/** Shifts by one with each pass through the clubs, so that a connection does not always get the same ones. */
const toClubId = (i: number) => `club-${(i + Math.floor(i / CLUBS)) % CLUBS}`
const toKey = (i: number) => `key-${Math.floor(i / CLUBS) % ENTRIES}`

async function run(pool: pg.Pool, { name, text }: Statement, values: unknown[], rows: number) {
  const { rowCount } = await pool.query({ name, text, values })
  if (rowCount !== rows) throw new Error(`${name} returned ${rowCount} rows in place of ${rows}.`)
}

const put = (pool: pg.Pool, club: string, key: string) => {
  const written = [VALUE, randomUUID(), String(Date.now() / 1000), QUOTA]
  return run(pool, statements.put, ['app', club, '', 'bench', key, ...written, null, null, 'member'], 1)
}

/** The service's statements with its values, by operation; the i-th of each asks for the same club. */
export const clubStatements: Record<string, Run> = {
  get: (pool, i) => run(pool, statements.get, ['app', toClubId(i), '', 'bench', toKey(i), MAX_BYTES], 1),
  list: (pool, i) =>
    run(pool, statements.list, ['app', toClubId(i), '', 'bench', String(ENTRIES), '0', MAX_BYTES], ENTRIES),
  put: (pool, i) => put(pool, toClubId(i), toKey(i)),
  'put, one club': (pool, i) => put(pool, toClubId(0), toKey(i)),
}
