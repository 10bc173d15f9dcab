import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { addTeam, inviteToTeam } from '../../../server/admin/teams.ts'
import { createCipher } from '../../../server/secrets/cipher.ts'
import type { Program, Service } from '../../process/service.ts'
import { dataDirectory, freePort, run, send, start, until } from '../../process/service.ts'
import { migratedDatabase, query } from '../../support/databases.ts'
import { FaultProxy } from '../../support/fault-proxy.ts'
import { pgClient } from '../../support/pg-client.ts'
import { openTestDatabase } from '../../support/test-database.ts'
import { publisher } from '../../webhooks/queue-world.ts'
import { endingAfterAll } from '../at-end.ts'
import { headersOfAnna, seedDemo } from '../demo.ts'
import type { RedisServer } from '../redis/redis-server.ts'
import { redisServer } from '../redis/redis-server.ts'
import type { Prometheus } from './prometheus.ts'
import { startPrometheus } from './prometheus.ts'

const has = (program: string) => !spawnSync(program, ['--version']).error
const lacking = ['prometheus', 'redis-server', 'faketime'].filter((program) => !has(program))
const skipReason = lacking.length > 0 ? ` (skipped: there is no ${lacking.join(', ')})` : ''

const SECRETS_KEY = Buffer.alloc(32, 7).toString('base64')
const workerEntry = join(import.meta.dirname, '../../../dist/server/worker.js')

/** Loaded by the worker: from SIGUSR2 on, its loop is not woken any more. No fault of its surroundings brings that about. */
const HANGING = `const { setTimeout: real } = globalThis; let hangs = false
process.on('SIGUSR2', () => { hangs = true })
globalThis.setTimeout = (callback, ...rest) => real(hangs && callback.name === 'runTurn' ? () => {} : callback, ...rest)`

describe.skipIf(lacking.length > 0)(`at a fault${skipReason}`, () => {
  const atEnd = endingAfterAll()
  let databaseUrl: string
  let proxy: FaultProxy
  let redis: RedisServer
  let env: Record<string, string>
  let node: Service
  let worker: Program
  let workerPort: number
  let headers: Record<string, string>
  let prometheus: Prometheus

  async function startWorker(more: Record<string, string> = {}) {
    const hanging = `--import=data:text/javascript,${encodeURIComponent(HANGING)}`
    worker = run([workerEntry], { ...env, WORKER_PORT: String(workerPort), NODE_OPTIONS: hanging, ...more })
    await until(
      async () => worker.stdout() + worker.stderr(),
      (said) => said.includes('the worker delivers'),
    )
  }
  async function killWorker() {
    if (worker.child.exitCode === null) worker.child.kill('SIGKILL')
    await worker.ended
  }

  /** Reads of the storage, several at once, until the result is called or the test ends. */
  function load(atOnce: number) {
    let isOver = false
    const loops = Array.from({ length: atOnce }, async () => {
      while (!isOver) {
        await send(node.port, 'GET', '/v1/storage/notes/entry', { headers }).catch(() => {})
        await pause(50)
      }
    })
    const stop = async () => {
      isOver = true
      await Promise.all(loops)
    }
    onTestFinished(stop)
    return stop
  }

  const fires = (...alerts: string[]) => expect.poll(() => prometheus.firing()).toEqual(alerts)

  beforeAll(async () => {
    databaseUrl = await migratedDatabase(atEnd)
    await seedDemo(databaseUrl)
    proxy = await FaultProxy.to(databaseUrl)
    atEnd(async () => proxy.close())
    redis = await redisServer({ atEnd })
    await redis.start()
    env = {
      DATA_DIR: await dataDirectory(atEnd),
      DATABASE_URL: proxy.url,
      SECRETS_KEY,
      REDIS_URL: redis.url,
      // Nothing listens there.
      SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
      MAIL_FROM: 'apps@example.org',
    }
    node = await start({ ...env, WEBHOOK_WORKER: 'false' }, { atEnd })
    workerPort = await freePort()
    await startWorker()
    atEnd(killWorker)
    headers = await headersOfAnna(env.DATA_DIR!, { client: 'trainer-app' })
    const entry = await send(node.port, 'PUT', '/v1/storage/notes/entry', { headers, body: { value: 1 } })
    expect(entry).toMatchObject({ status: 200 })
    prometheus = await startPrometheus(await freePort(), [node.internalPort, workerPort])
    atEnd(prometheus.stop)
  })
  beforeEach(() => fires())

  it('ProcessAway fires when the worker is killed, and DeliveriesLate once something is due', async () => {
    await killWorker()
    await fires('ProcessAway')
    const db = openTestDatabase(databaseUrl)
    const { subscribe, publish } = await publisher(db, createCipher([Buffer.from(SECRETS_KEY, 'base64')]))
    const subscription = await subscribe()
    await publish(subscription, { at: Date.now() })
    await fires('DeliveriesLate', 'ProcessAway')
    await db.subscription.delete({ where: { id: subscription } })
    await db.$disconnect()
    await startWorker()
  })

  it('ServerErrors fires when a table is missing', async () => {
    const stop = load(2)
    await query(databaseUrl, 'ALTER TABLE "StorageEntry" RENAME TO elsewhere')
    await fires('ServerErrors').finally(() => query(databaseUrl, 'ALTER TABLE elsewhere RENAME TO "StorageEntry"'))
    await fires()
    await stop()
  })

  it('SlowReads fires when the way to the database is long', async () => {
    const stop = load(2)
    proxy.latencyMs = 150
    await proxy.begin('latency')
    await fires('SlowReads').finally(() => proxy.end())
    await fires()
    await stop()
  })

  it('PoolExhausted fires at a lock that lasts, with its consequences, and DatabaseUnreachable never does', async () => {
    const holder = pgClient(databaseUrl)
    await holder.connect()
    onTestFinished(() => holder.end())
    await holder.query('SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0')
    await holder.query('BEGIN; LOCK TABLE "StorageEntry" IN ACCESS EXCLUSIVE MODE')
    // After the lock: reads that do not wait for it soon come to the rate limit, and would wait for nothing then.
    const stop = load(40)
    await fires('PoolExhausted', 'ServerErrors', 'SlowReads')
    // Longer than the rule on connections looks back, and as long as it waits.
    await pause(35_000)
    expect(await prometheus.hasFired('DatabaseUnreachable')).toBe(false)
    await holder.end()
    await stop()
    await fires()
    expect(await prometheus.hasFired('DatabaseUnreachable')).toBe(false)
  })

  it('DatabaseUnreachable fires when the database is away', async () => {
    await proxy.begin('refuse')
    await fires('DatabaseUnreachable').finally(() => proxy.end())
  })

  it('DeliveryLoopHangs fires when the loop of a worker does', async () => {
    worker.child.kill('SIGUSR2')
    await fires('DeliveryLoopHangs')
    await killWorker()
    await startWorker()
  })

  it('LimiterInMemory fires when Redis is killed', async () => {
    await redis.kill()
    await fires('LimiterInMemory')
    await redis.start()
  })

  it('EventLoopBlocked fires when a node does not get the processor', async () => {
    let isOver = false
    const stalling = (async () => {
      while (!isOver) {
        node.child.kill('SIGSTOP')
        await pause(400)
        node.child.kill('SIGCONT')
        await pause(400)
      }
    })()
    await fires('EventLoopBlocked').finally(() => {
      isOver = true
    })
    await stalling
  })

  it('OldSnapshot fires at an old transaction, and DeadRows behind it', async () => {
    const holder = pgClient(databaseUrl)
    await holder.connect()
    await holder.query('SET idle_in_transaction_session_timeout = 0; BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1')
    await fires('OldSnapshot')
    await query(
      databaseUrl,
      `DO $$ BEGIN FOR n IN 1..11000 LOOP UPDATE "StorageUsage" SET bytes = bytes
       WHERE ctid = (SELECT ctid FROM "StorageUsage" LIMIT 1); END LOOP; END $$`,
    )
    await fires('DeadRows', 'OldSnapshot')
    await holder.end()
    await query(databaseUrl, 'VACUUM "StorageUsage"')
  })

  it('HousekeepingStopped fires when a task has not come to its end for over 3 hours', async () => {
    const finished = (ago: string) =>
      query(
        databaseUrl,
        `INSERT INTO "Housekeeping" (name, "nextAt", "finishedAt") VALUES ('events', now() + interval '5 min', now() - interval '${ago}')
         ON CONFLICT (name) DO UPDATE SET "nextAt" = excluded."nextAt", "finishedAt" = excluded."finishedAt"`,
      )
    await finished('3 h 1 min')
    await fires('HousekeepingStopped')
    await finished('1 min')
  })

  it('MailsFail fires when the mail server cannot be reached', async () => {
    const db = openTestDatabase(databaseUrl)
    await addTeam(db, { id: 'planners', name: 'Planners', level: 'hobby' }, new Date())
    await inviteToTeam(db, { team: 'planners', email: 'jo@example.org', role: 'owner' }, new Date())
    await fires('MailsFail')
    await db.mail.deleteMany({ where: { teamId: 'planners' } })
    await db.$disconnect()
  })

  it('ClockWrong fires when the clock of a machine is two hours ahead', async () => {
    await killWorker()
    const shown = spawnSync('faketime', ['-m', '-f', '+2h', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' })
    await startWorker({ LD_PRELOAD: shown.stdout.trim(), FAKETIME: '+2h', FAKETIME_DONT_FAKE_MONOTONIC: '1' })
    await fires('ClockWrong')
    expect(worker.stdout()).toContain("the clock of this machine is 7200.0 s ahead of the database's")
  })
})
