import { describe, expect, it } from 'vitest'
import type { Faulted } from '../../process/faulted.ts'
import { startFaulted } from '../../process/faulted.ts'
import { names, overRest, overTrpc } from '../../process/operations.ts'
import type { Answer } from '../../process/service.ts'
import { asAnna, dataDirectory, send, start } from '../../process/service.ts'
import { emptyDatabase, migratedDatabase, query } from '../../support/databases.ts'
import { retypings } from '../../support/retypings.ts'
import { hasPgBouncer, skipReason, startPgBouncer } from './pgbouncer.ts'

/** Fewer than the pool of one node has, so that each of its connections meets sessions that others have used. */
const CONNECTIONS = 5

describe.skipIf(!hasPgBouncer)(`through PgBouncer in transaction mode${skipReason}`, () => {
  async function served() {
    const databaseUrl = await migratedDatabase()
    const bouncer = await startPgBouncer(databaseUrl, CONNECTIONS)
    const service = await startFaulted({ databaseUrl: bouncer.url })
    await Promise.all(Array.from({ length: 4 }, () => allWell(service)))
    return { databaseUrl, bouncer, service }
  }

  it('many clients at once call every endpoint', async () => {
    const { databaseUrl, service } = await served()
    await Promise.all(Array.from({ length: 12 }, () => allWell(service)))
    expect(service.failures()).toEqual([])
    const [{ count }] = await query(databaseUrl, SESSIONS)
    expect(count).toBeLessThanOrEqual(CONNECTIONS)
  })

  it('a migration beside the service, which changes the types of results, fails no request', async () => {
    const { databaseUrl, service } = await served()
    for (const retyping of retypings) {
      await query(databaseUrl, retyping)
      await Promise.all(Array.from({ length: 4 }, () => allWell(service)))
    }
    expect(service.failures()).toEqual([])
  })

  it('DISCARD ALL and DEALLOCATE ALL of others in its sessions fail no request', async () => {
    const { bouncer, service } = await served()
    const sessions = Array.from({ length: 2 * CONNECTIONS }, (_, i) => (i % 2 ? 'DISCARD ALL' : 'DEALLOCATE ALL'))
    await Promise.all([...sessions.map(bouncer.run), ...sessions.map(() => allWell(service))])
    await allWell(service)
    expect(service.failures()).toEqual([])
  })

  it('sessions that the server ends make nothing but 503, and only for requests in them', async () => {
    const { databaseUrl, service } = await served()
    const calls = names.flatMap((name) => [overRest(service, name, 'anna'), overTrpc(service, name, 'ben')])
    await query(databaseUrl, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${OURS}`)
    for (const { status } of await Promise.all(calls)) expect(status < 500 || status === 503).toBe(true)
    await expect.poll(() => service.ready()).toMatchObject({ status: 200 })
    await allWell(service)
  })

  it('the service works in UTC and with limited sessions, without a warning', async () => {
    const databaseUrl = await emptyDatabase()
    await query(databaseUrl, `ALTER DATABASE ${new URL(databaseUrl).pathname.slice(1)} SET timezone = 'Asia/Tokyo'`)
    const { url, run, console } = await startPgBouncer(databaseUrl, CONNECTIONS)
    const env = {
      DATABASE_URL: url,
      DATABASE_DIRECT_URL: databaseUrl,
      DATABASE_POOL_MAX: '3',
      DATA_DIR: await dataDirectory(),
    }
    const service = await start(env)
    expect(service.stdout()).not.toContain('in sessions of the database')
    await Promise.all(Array.from({ length: 20 }, () => asAnna(service, 'GET', '/me/profile', undefined, 'none')))
    expect((await send(service.internalPort, 'GET', '/readyz')).status).toBe(200)
    const clients = await console('SHOW CLIENTS')
    const own = clients.filter((client) => client.application_name === 'member-apps-api')
    expect(own.length).toBeGreaterThan(0)
    expect(own.length).toBeLessThanOrEqual(3)
    expect(await run('SHOW statement_timeout')).toEqual([{ statement_timeout: '5s' }])
  })
})

const OURS = `datname = current_database() AND application_name = 'member-apps-api' AND pid <> pg_backend_pid()`
const SESSIONS = `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`

/** Every endpoint over both ports; those that others call at the same time may find what these have left. */
async function allWell(service: Faulted) {
  for (const call of [overRest, overTrpc] as ((service: Faulted, name: string, member: string) => Promise<Answer>)[]) {
    const answers = await Promise.all(names.map((name) => call(service, name, 'anna')))
    const failed = answers
      .map(({ status, text }, i) => [names[i], status, text] as const)
      .filter(([, status]) => status >= 500)
    expect(failed).toEqual([])
  }
}
