import { randomUUID } from 'node:crypto'
import type { TestContext } from 'vitest'
import { expect, inject, it, onTestFinished } from 'vitest'
import { migrate } from '../../prisma/migrate.ts'
import { checkSessions } from '../../prisma/session-limits.ts'
import { direct } from '../support/addresses.ts'
import { emptyDatabase, query, unlimitedDatabase } from '../support/databases.ts'
import { openTestDatabase } from '../support/test-database.ts'

const shown = (url: string) =>
  query(
    url,
    `SELECT current_setting('statement_timeout') AS statement, current_setting('idle_in_transaction_session_timeout') AS idle`,
    { limited: true },
  )

async function warnings(url: string): Promise<string[]> {
  const db = openTestDatabase(url)
  return checkSessions(db).finally(() => db.$disconnect())
}

const readName = (url: string) => new URL(url).pathname.slice(1)

it('a migration limits the sessions of its role, and only in its database', async () => {
  const url = direct(await emptyDatabase())
  await migrate(url)
  expect(await shown(url)).toEqual([{ statement: '5s', idle: '30s' }])
  expect(await warnings(url)).toEqual([])
  expect(await shown(direct(await emptyDatabase()))).not.toEqual(await shown(url))
})

it('a migration leaves the limits that an operator has set', async () => {
  const url = direct(await unlimitedDatabase())
  await query(url, `ALTER DATABASE ${readName(url)} SET statement_timeout = '4s'`)
  await migrate(url)
  expect(await shown(url)).toEqual([{ statement: '4s', idle: '30s' }])
  expect(await warnings(url)).toEqual([])
})

it('several migrations at once limit them', async () => {
  const url = direct(await unlimitedDatabase())
  await Promise.all(Array.from({ length: 4 }, () => migrate(url)))
  expect(await shown(url)).toEqual([{ statement: '5s', idle: '30s' }])
})

/** A role that owns nothing, dropped with the test. */
async function loginRole(skip: TestContext['skip']): Promise<string> {
  const url = inject('databaseUrl')
  const [{ given }] = await query(url, 'SELECT rolsuper AS given FROM pg_roles WHERE rolname = current_user')
  skip(!given, 'the server of the tests lets us make no role')
  const role = `limits_${randomUUID().slice(0, 8)}`
  await query(url, `CREATE ROLE ${role} LOGIN PASSWORD 'p'`)
  onTestFinished(() => query(url, `DROP ROLE ${role}`).then(() => {}))
  return role
}

it("a migration by a superuser limits the sessions of the service's role", async ({ skip }) => {
  const url = direct(await unlimitedDatabase())
  const role = await loginRole(skip)
  await migrate(url, { role })
  const [{ settings }] = await query(
    url,
    `SELECT setconfig AS settings FROM pg_db_role_setting WHERE setrole = '${role}'::regrole`,
  )
  expect(settings).toEqual(['statement_timeout=5000ms', 'idle_in_transaction_session_timeout=30000ms'])
})

it('sessions without limits are reported, with the statements that set them', async () => {
  const url = direct(await unlimitedDatabase())
  const [{ role }] = await query(url, 'SELECT quote_ident(current_user) AS role')
  await query(url, `ALTER ROLE ${role} IN DATABASE ${readName(url)} SET statement_timeout = 0`)
  await query(url, `ALTER ROLE ${role} IN DATABASE ${readName(url)} SET idle_in_transaction_session_timeout = '1h'`)
  await migrate(url)
  const [warning] = await warnings(url)
  expect(warning).toMatch(
    /^in sessions of the database statement_timeout is not set, idle_in_transaction_session_timeout is 3600000 ms: run /,
  )
  const [, statements] = /: run (.*;) and/.exec(warning!)!
  await query(url, statements!)
  expect(await warnings(url)).toEqual([])
  expect(await shown(url)).toEqual([{ statement: '5s', idle: '30s' }])
})

it('longer limits of the address are reported, with the parameter to remove', async () => {
  const url = new URL(direct(await unlimitedDatabase()))
  await migrate(url.href)
  url.searchParams.set('statement_timeout', '60000')
  expect(await warnings(url.href)).toEqual([
    'in sessions of the database statement_timeout is 60000 ms: remove `statement_timeout` from DATABASE_URL',
  ])
})

it('a role that does not see the transactions of others is reported, with the statement that lets it', async ({
  skip,
}) => {
  const url = direct(await emptyDatabase())
  await migrate(url)
  const role = await loginRole(skip)
  const own = new URL(url)
  own.username = role
  own.password = 'p'
  await query(url, `ALTER ROLE ${role} SET statement_timeout = '5s'`)
  await query(url, `ALTER ROLE ${role} SET idle_in_transaction_session_timeout = '30s'`)
  const [warning, ...others] = await warnings(own.href)
  expect(others).toEqual([])
  expect(warning).toBe(
    `the role ${role} does not see how old the transactions of other roles are: run GRANT pg_read_all_stats TO ${role};`,
  )
  await query(url, /run (.*;)/.exec(warning!)![1]!)
  expect(await warnings(own.href)).toEqual([])
})

it('sessions that are not in UTC are refused', async () => {
  const url = new URL(direct(inject('databaseUrl')))
  url.searchParams.set('options', '-c timezone=Asia/Tokyo')
  await expect(warnings(url.href)).rejects.toThrow('Sessions of the database are in Asia/Tokyo, not in UTC')
})
