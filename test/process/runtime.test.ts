import { randomBytes } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { memoryLimits } from '../../server/limits/memory.ts'
import { openRuntime } from '../../server/process/runtime.ts'
import { migratedDatabase, query } from '../support/databases.ts'

const toSettings = (databaseUrl: string) => ({
  databaseUrl,
  databaseDirectUrl: undefined,
  databasePoolMax: 2,
  migrateOnStart: false,
  dataDir: '/nowhere',
  secretsKeys: [randomBytes(32)],
  brand: 'the club',
  storageQuotaBytes: 1_000,
})

/** What each connection to a database ran last. */
const connectionsTo = async (databaseUrl: string): Promise<string[]> => {
  const sql = `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
  return (await query(databaseUrl, sql)).map(({ query }: { query: string }) => query)
}

describe('openRuntime', () => {
  it('opens only the parts that are asked for', async () => {
    const databaseUrl = await migratedDatabase()
    const { store, close, ...others } = await openRuntime({ ...toSettings(databaseUrl), direct: true }, 'store')
    onTestFinished(close)
    expect(Object.keys(others).sort()).toEqual(['add', 'orClose'])
    expect(await connectionsTo(databaseUrl)).toEqual([])
    expect(await store.db.isReady()).toBe(true)
  })

  it('opens what these need, each once, and closes all', async () => {
    const databaseUrl = await migratedDatabase()
    const { core, wakes, store, clock, close } = await openRuntime(
      toSettings(databaseUrl),
      ...(['core', 'wakes', 'store', 'clock'] as const),
    )
    expect([core.now, core.steady]).toEqual([clock.now, clock.steady])
    expect(core.db).toBe(store.db)
    expect(wakes.due).toBe(core.due)
    await expect.poll(() => connectionsTo(databaseUrl)).toContainEqual(expect.stringMatching(/^LISTEN/))
    await close()
    await expect.poll(() => connectionsTo(databaseUrl)).toEqual([])
  })

  it('closes what is open when a part cannot be opened', async () => {
    const databaseUrl = await migratedDatabase()
    const first = await openRuntime(toSettings(databaseUrl), 'secrets')
    await first.close()
    const other = openRuntime(toSettings(databaseUrl), 'wakes', 'clock', 'secrets')
    await expect(other).rejects.toThrow('SECRETS_KEY is not the key')
    await expect.poll(() => connectionsTo(databaseUrl)).toEqual([])
  })

  it('neither opens nor closes what is given', async () => {
    const databaseUrl = await migratedDatabase()
    const { store, close } = await openRuntime(toSettings(databaseUrl), 'store')
    onTestFinished(close)
    const given = { store, clock: { now: () => 7 }, limits: memoryLimits() }
    const other = await openRuntime({ ...toSettings('postgresql://nowhere'), given }, 'core', 'limits')
    expect([other.core.now(), other.core.steady()]).toEqual([7, 7])
    expect(other.limits).toBe(given.limits)
    await other.close()
    expect(await store.db.organisation.count()).toBe(0)
  })
})
