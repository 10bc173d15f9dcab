import { randomUUID } from 'node:crypto'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { migrate } from '../../prisma/migrate.ts'
import { emptyDatabase, query } from '../support/databases.ts'
import { pgClient } from '../support/pg-client.ts'
import type { Faulted } from './faulted.ts'
import { expectUnavailable, expectUnavailableTrpc, startFaulted } from './faulted.ts'
import { names, overRest, overTrpc } from './operations.ts'
import { until } from './service.ts'
import { takesAnyPassword } from './trust.ts'

describe('a connection that breaks during a query', () => {
  it.each([
    { how: 'by a reset', breakIt: async ({ proxy }: Faulted) => proxy.breakConnections() },
    { how: 'by the server', breakIt: ({ databaseUrl }: Faulted) => terminateAll(databaseUrl) },
  ])('$how returns 503, and the next request succeeds', async ({ breakIt }) => {
    const service = await startFaulted()
    for (const name of names) await overRest(service, name, 'anna')
    const release = await lockEverything(service.databaseUrl)
    const waiting = [
      overRest(service, 'storage.get', 'anna'),
      overRest(service, 'quizzes.submit', 'anna'),
      overRest(service, 'webhook.get', 'anna'),
      overTrpc(service, 'me.groups', 'anna'),
      overTrpc(service, 'storage.put', 'anna'),
    ]
    await until(
      () => waitingQueries(service.databaseUrl),
      // Statements of the service itself may wait beside them.
      (count) => count >= waiting.length,
    )
    await breakIt(service)
    const [get, submit, webhook, groups, put] = await Promise.all(waiting)
    expectUnavailable('storage.get', get!)
    expectUnavailable('quizzes.submit', submit!)
    expectUnavailable('webhook.get', webhook!)
    expectUnavailableTrpc('me.groups', groups!)
    expectUnavailableTrpc('storage.put', put!)

    await release()
    for (const name of names) expect([name, (await overRest(service, name, 'anna')).status < 500]).toEqual([name, true])
  })

  it('is noticed while idle: the next requests all succeed', async () => {
    const service = await startFaulted()
    await Promise.all(names.map((name) => overRest(service, name, 'anna')))
    await terminateAll(service.databaseUrl)
    await expect.poll(() => service.failures().length).toBeGreaterThan(0)
    const answers = await Promise.all(names.map((name) => overRest(service, name, 'anna')))
    for (const [i, { status }] of answers.entries()) expect([names[i], status < 500]).toEqual([names[i], true])
  })
})

describe('the service', () => {
  it('returns 503 when the database takes longer than a statement may', async () => {
    const service = await startFaulted({ timeLimits: { statementMs: 500 } })
    await overRest(service, 'root', 'anna')
    const release = await lockEverything(service.databaseUrl)
    const answers = await Promise.all([
      overRest(service, 'storage.put', 'anna'),
      overRest(service, 'me.profile', 'anna'),
      overRest(service, 'me.profile', 'ben'),
    ])
    for (const answer of answers) expectUnavailable('a late answer', answer)
    await release()
    expect((await overRest(service, 'me.profile', 'ben')).status).toBe(200)
  })

  it('returns 503 when the database does not exist any more', async () => {
    const service = await startFaulted()
    const server = inject('databaseUrl')
    const name = new URL(service.databaseUrl).pathname.slice(1)
    // Else it would connect again before the database has its other name.
    await query(server, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
    await query(server, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`)
    await query(server, `ALTER DATABASE ${name} RENAME TO ${name}_away`)
    expectUnavailable('me.profile', await overRest(service, 'me.profile', 'anna'))
    expectUnavailable('storage.get', await overRest(service, 'storage.get', 'ben'))
    // Its last answer counts for half a second.
    expectUnavailable('readyz', await until(service.ready, ({ status }) => status !== 200))
    await query(server, `ALTER DATABASE ${name}_away RENAME TO ${name}`)
    await query(server, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
    await servedAgain(service)
  })

  it('returns 503 when the database refuses the login', async ({ skip }) => {
    const server = inject('databaseUrl')
    const [right] = await query(server, 'SELECT rolsuper AS given FROM pg_roles WHERE rolname = current_user')
    skip(!right.given, 'the server of the tests lets us make no role')
    const role = `process_${randomUUID().replaceAll('-', '')}`
    await query(server, `CREATE ROLE ${role} LOGIN PASSWORD 'first'`)
    const databaseUrl = await emptyDatabase()
    const database = new URL(databaseUrl).pathname.slice(1)
    onTestFinished(async () => {
      // With a database of its own the role stays.
      await query(server, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
      await query(server, `DROP ROLE ${role}`)
    })
    await query(server, `ALTER DATABASE ${database} OWNER TO ${role}`)
    const url = new URL(databaseUrl)
    url.username = role
    url.password = 'first'
    await migrate(url.href)
    const service = await startFaulted({ databaseUrl: url.href })
    const changes = ['CONNECTION LIMIT 0', 'CONNECTION LIMIT -1 NOLOGIN']
    if (!(await takesAnyPassword(url.href))) changes.push(`LOGIN PASSWORD 'second'`)
    for (const change of changes) {
      await query(server, `ALTER ROLE ${role} ${change}`)
      await terminateAll(databaseUrl)
      expectUnavailable(change, await overRest(service, 'me.profile', 'anna'))
      expectUnavailable(change, await overRest(service, 'storage.get', 'ben'))
    }
    await query(server, `ALTER ROLE ${role} LOGIN PASSWORD 'first'`)
    await servedAgain(service)
  })
})

const servedAgain = (service: Faulted) =>
  until(
    () => overRest(service, 'me.profile', 'anna'),
    ({ status }) => status === 200,
  )

/** The connections of the service to its database. */
const OURS = `datname = current_database() AND application_name = 'member-apps-api'`

const terminateAll = (url: string) =>
  query(url, `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE ${OURS}`)

async function waitingQueries(url: string): Promise<number> {
  const text = `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE ${OURS} AND wait_event_type = 'Lock'`
  const [{ waiting }] = await query(url, text)
  return waiting
}

/** Holds every table, until released. */
async function lockEverything(url: string): Promise<() => Promise<void>> {
  const client = pgClient(url)
  await client.connect()
  const { rows } = await client.query(
    `SELECT format('%I', tablename) AS name FROM pg_tables WHERE schemaname = 'public'`,
  )
  await client.query('BEGIN')
  await client.query(`LOCK TABLE ${rows.map(({ name }) => name)} IN ACCESS EXCLUSIVE MODE`)
  return async () => {
    await client.query('ROLLBACK')
    await client.end()
  }
}
