import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createCipher } from '../../../server/secrets/cipher.ts'
import { checkSecretsKey } from '../../../server/secrets/keys.ts'
import { migratedDatabase } from '../../support/databases.ts'
import { openTestDatabase } from '../../support/test-database.ts'
import { publisher } from '../../webhooks/queue-world.ts'
import { holding, receiver } from '../../webhooks/worker-world.ts'
import {
  dataDirectory,
  dataDirectoryWithDemo,
  findPostgres,
  freePort,
  launchWorker,
  readLog,
  readStop,
  send,
  start,
} from '../service.ts'

/** The environment of a process that delivers to a local receiver, and a queue for it. */
async function prepare(to: Awaited<ReturnType<typeof receiver>>) {
  const [DATA_DIR, DATABASE_URL, key] = [await dataDirectory(), await migratedDatabase(), randomBytes(32)]
  const db = openTestDatabase(DATABASE_URL)
  onTestFinished(() => db.$disconnect())
  const authority = join(DATA_DIR, 'authority.pem')
  await writeFile(authority, to.ca)
  const secrets = { SECRETS_KEY: key.toString('base64'), NODE_EXTRA_CA_CERTS: authority, WEBHOOK_ALLOW: '127.0.0.1' }
  return { db, env: { DATA_DIR, DATABASE_URL, ...secrets }, ...(await publisher(db, createCipher([key]))) }
}

describe('member-apps worker', () => {
  it('delivers and logs, and on SIGTERM finishes the delivery in flight', async () => {
    const hold = holding()
    const to = await receiver(hold.answer)
    const { env, subscribe, publish, row, states } = await prepare(to)
    const subscription = await subscribe(to.url(), 'secret-4711')
    const [id] = await publish(subscription, { count: 10 })
    const WORKER_PORT = await freePort()
    const worker = launchWorker({ ...env, WORKER_PORT: String(WORKER_PORT) })
    await expect.poll(() => to.received.length).toBe(1)
    expect(to.received[0]!.headers).toMatchObject({ 'webhook-id': id, 'x-webhook-secret': 'secret-4711' })

    worker.child.kill('SIGTERM')
    // Until the worker has seen the signal, a response frees it for the next delivery.
    await expect.poll(async () => (await send(WORKER_PORT, 'GET', '/readyz')).status).toBe(503)
    hold.release()
    expect(await worker.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(await states()).toEqual({ delivered: 1, pending: 9 })
    expect(await row(id)).toMatchObject({ state: 'delivered', attempts: 1 })
    const attempts = readLog(worker.stdout()).filter(({ delivery }) => delivery !== undefined)
    expect(attempts).toMatchObject([{ delivery: id, subscription, attempt: 1, status: 204, error: null }])
    expect(worker.stdout()).not.toMatch(/secret-4711|127\.0\.0\.1/)
    expect(readStop(worker.stdout())).toEqual(['SIGTERM: draining for at most 7 s', 'stopped, 0 deliveries cut'])
  })

  it('releases a delivery without a response on SIGINT, and exits', async () => {
    const to = await receiver(holding().answer)
    const { db, env, subscribe, publish, row } = await prepare(to)
    const [id] = await publish(await subscribe(to.url()), { count: 3 })
    const worker = launchWorker(env)
    await expect.poll(() => to.received.length).toBe(1)
    worker.child.kill('SIGINT')
    expect(await worker.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(await row(id)).toMatchObject({ state: 'pending', attempts: 0, lease: null })
    expect(await db.delivery.count({ where: { lease: { not: null } } })).toBe(0)
    expect(readStop(worker.stdout())).toEqual(['SIGINT: draining for at most 7 s', 'stopped, 1 delivery cut'])
  })

  it('starts the embedded database and stops it on exit', async () => {
    const DATA_DIR = await dataDirectoryWithDemo()
    const worker = launchWorker({ DATA_DIR })
    await expect.poll(() => worker.stdout()).toContain('the worker delivers')
    expect(await findPostgres(DATA_DIR)).not.toBe(0)
    worker.child.kill('SIGTERM')
    expect(await worker.ended).toMatchObject({ code: 0, signal: null, stderr: '' })
    expect(await findPostgres(DATA_DIR)).toBe(0)
  })

  it('exits with 1 and names the setting that is wrong', async () => {
    const { code, stderr } = await launchWorker({ LOG_LEVEL: 'loud' }).ended
    expect([code, stderr]).toEqual([1, expect.stringContaining('LOG_LEVEL')])
  })

  it('refuses to start with another key than the one that encrypted the secrets', async () => {
    const { db, env } = await prepare(await receiver())
    await checkSecretsKey(db, createCipher([randomBytes(32)]))
    const { code, stderr } = await launchWorker(env).ended
    expect([code, stderr]).toEqual([1, expect.stringContaining('SECRETS_KEY is not the key')])
  })
})

it('the service leaves deliveries to a separate worker with WEBHOOK_WORKER=false', async () => {
  const to = await receiver()
  const { env, subscribe, publish, row } = await prepare(to)
  const [id] = await publish(await subscribe(to.url()))
  const service = await start({ ...env, WEBHOOK_WORKER: 'false' })
  const worker = launchWorker({ ...env, WEBHOOK_WORKER: 'false' })
  await expect.poll(() => row(id)).toMatchObject({ state: 'delivered' })
  await expect.poll(worker.stdout).toContain(id)
  expect(await service.stop()).toMatchObject({ code: 0, stderr: '', stdout: expect.not.stringContaining(id!) })
})
