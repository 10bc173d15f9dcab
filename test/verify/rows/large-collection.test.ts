import type pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { statements } from '../../../routers/storage/statements.ts'
import { migratedDatabase } from '../../support/databases.ts'
import { pgClient } from '../../support/pg-client.ts'
import { times } from '../../support/rounds.ts'

const LARGE = times(1_000_000, 100_000)
let client: pg.Client

beforeAll(async () => {
  client = pgClient(await migratedDatabase(afterAll))
  await client.connect()
  await client.query('SET statement_timeout = 0')
  const add = (collection: string, entries: number) => `
    INSERT INTO "StorageEntry" SELECT 'app', 'club', '', '${collection}', md5(n::text), NULL, '1', gen_random_uuid(), now()
      FROM generate_series(1, ${entries}) n;
    INSERT INTO "StorageCollection" VALUES ('app', 'club', '', '${collection}', ${entries})`
  // Without triggers and foreign keys.
  await client.query(`SET session_replication_role = replica; ${add('small', 100)}; ${add('large', LARGE)}`)
  // Also where the database's own setting is missing, the statement does not look worth it.
  await client.query('SET jit = on')
  await client.query('VACUUM ANALYZE "StorageEntry"')
  await client.query(`PREPARE list AS ${statements.list.text}`)
})
afterAll(() => client.end())

/** How long the server takes for a page, in ms; throws when it compiles the statement first. */
async function measureTime(collection: string, offset: number): Promise<number> {
  const { rows } = await client.query(
    `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) EXECUTE list('app', 'club', '', '${collection}', 50, ${offset}, 1000000)`,
  )
  const [{ Plan: plan, JIT: jit, 'Execution Time': time }] = rows[0]['QUERY PLAN']
  expect(plan['Actual Rows']).toBe(50)
  expect(jit).toBeUndefined()
  return time
}

/** The quickest of 200: what else the machine does slows most of them down, by half at a load of 12. */
const quickest = (times: number[]) => Math.min(...times)

it.each(['force_custom_plan', 'force_generic_plan'] as const)(
  'the first and the last page of a large collection take at most 1.5 times as long as one of a small one (%s)',
  async (plans) => {
    await client.query(`SET plan_cache_mode = ${plans}`)
    const figures: Record<'small' | 'first' | 'last', number[]> = { small: [], first: [], last: [] }
    for (let round = 0; round < 200; round++) {
      figures.small.push(await measureTime('small', 0))
      figures.first.push(await measureTime('large', 0))
      figures.last.push(await measureTime('large', LARGE - 50))
    }
    const small = quickest(figures.small)
    expect(quickest(figures.first)).toBeLessThan(small * 1.5)
    expect(quickest(figures.last)).toBeLessThan(small * 1.5)
  },
)
