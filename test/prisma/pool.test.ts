import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { openNotifications } from '../../prisma/pg/notifications.ts'
import { openPool } from '../../prisma/pg/pool.ts'
import { statement } from '../../prisma/pg/statement.ts'
import { direct } from '../support/addresses.ts'
import { FaultProxy } from '../support/fault-proxy.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { openTestDatabase } from '../support/test-database.ts'
import { suiteLimits } from '../support/time-limits.ts'

it('connections stay open through five minutes without a request', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const pool = openPool({ connectionString: inject('databaseUrl') }, suiteLimits)
  onTestFinished(() => {
    vi.useRealTimers()
    return pool.end()
  })
  // Not by their process: PgBouncer gives each transaction another one.
  let opened = 0
  pool.on('connect', () => opened++)
  const use = () => Promise.all([pool.query('SELECT 1'), pool.query('SELECT 1')])
  await use()
  vi.advanceTimersByTime(299_999)
  await use()
  expect(opened).toBe(2)
  vi.advanceTimersByTime(300_000)
  expect(pool.totalCount).toBe(0)
})

describe('a certificate of the address that can no longer be read', () => {
  async function withCertificate(url: string) {
    const file = join(await temporaryDirectory(), 'root.pem')
    await writeFile(file, '')
    const named = new URL(url)
    named.searchParams.set('sslmode', 'disable')
    named.searchParams.set('sslrootcert', file)
    return { url: named.href, remove: () => rm(file) }
  }

  it('does not keep a pool from connecting', async () => {
    const { url, remove } = await withCertificate(inject('databaseUrl'))
    const db = openTestDatabase(url, { max: 1 })
    onTestFinished(() => db.$disconnect())
    await remove()
    expect(await db.execute(statement('nothing', 'SELECT', {}, {}), {}, 'team')).toEqual([{}])
    expect(await db.isReady()).toBe(true)
  })

  it('does not keep a node from listening again', async () => {
    const proxy = await FaultProxy.to(direct(inject('databaseUrl')))
    onTestFinished(() => proxy.close())
    const { url, remove } = await withCertificate(proxy.url)
    const db = openTestDatabase(inject('databaseUrl'))
    const states: boolean[] = []
    const notifications = openNotifications({
      url,
      channel: `certificate_${randomUUID()}`,
      hello: randomUUID,
      received: () => {},
      working: (isWorking) => void states.push(isWorking),
      waitsMs: { answer: 2_000, reconnect: 1, retry: 1 },
      probe: (channel, text) => db.$executeRaw`SELECT pg_notify(${channel}, ${text})`,
    })
    onTestFinished(() => notifications.close().then(() => db.$disconnect()))
    await expect.poll(() => states).toEqual([true])
    await remove()
    proxy.breakConnections()
    await expect.poll(() => states.slice(0, 3)).toEqual([true, false, true])
  })
})
