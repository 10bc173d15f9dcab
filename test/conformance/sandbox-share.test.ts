import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { ConcurrencyLimit, sandboxConcurrency } from '../../server/http/concurrency-limit.ts'
import { pgClient } from '../support/pg-client.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'
import { startWorld } from '../support/world.ts'

const MAX_IN_FLIGHT = 32

/** A world whose tenant's app has a sandbox client, and an entry that a test can lock. */
async function begin(shares: ConcurrencyLimit) {
  const world = await startWorld({ shares })
  const { db, ids } = world
  const sandbox = id('sandbox')
  const { team, app } = ids
  await db.client.create({
    data: { id: sandbox, name: 'Sandbox', teamId: team, appId: app, environment: 'sandbox' },
  })
  const put = (client: string, collection: string) =>
    world.call('PUT', `/storage/${collection}/k`, { claims: { client_id: client }, body: { value: 1 } })
  const get = (client: string) => world.call('GET', '/storage/c', { claims: { client_id: client } })
  expect((await put(sandbox, 'c')).status).toBe(200)
  return { world, sandbox, put, get }
}

/** Makes writers of the tenant's store wait until it is called. */
async function holdStore({ ids }: World) {
  const holder = pgClient(inject('databaseUrl'))
  await holder.connect()
  await holder.query('BEGIN')
  await holder.query('SELECT FROM "StorageUsage" WHERE "appId" = $1 FOR UPDATE', [ids.app])
  let ended: Promise<void> | undefined
  const release = () => (ended ??= holder.end())
  onTestFinished(release)
  return release
}

describe('a sandbox client', () => {
  let impatient: Awaited<ReturnType<typeof begin>>
  let patient: Awaited<ReturnType<typeof begin>>
  beforeAll(async () => {
    impatient = await begin(sandboxConcurrency(50))
    patient = await begin(sandboxConcurrency(60_000))
  })
  afterAll(() => Promise.all([impatient.world.close(), patient.world.close()]))

  it('has 32 requests in flight at most: one more is 503, and its neighbours are served', async () => {
    const { world, sandbox, put, get } = impatient
    const release = await holdStore(world)
    const sent = Array.from({ length: MAX_IN_FLIGHT + 1 }, () => put(sandbox, 'c'))
    const refused = await Promise.race(sent)
    expect(refused.status).toBe(503)
    expect(refused.headers['retry-after']).toBe('2')
    expect(refused.body.error.code).toBe('unavailable')
    expect((await get(world.ids.client)).status).toBe(200)
    expect((await get(sandbox)).status).toBe(503)
    await release()
    const statuses = (await Promise.all(sent)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(MAX_IN_FLIGHT)
    expect((await get(sandbox)).status).toBe(200)
  })

  it('has a request that waits for changes beside them', async () => {
    const { world, sandbox, put, get } = await begin(new ConcurrencyLimit({ atOnce: 1, waiting: 0, waitMs: 0 }))
    onTestFinished(() => world.close())
    const read = (query: string) =>
      world.call('GET', `/collections/c/changes${query}`, { claims: { client_id: sandbox } })
    const { cursor } = (await read('')).body
    const waiting = read(`?since=${cursor}&wait=50`)
    await expect.poll(() => world.longPollSlots.size).toBe(1)
    expect((await get(sandbox)).status).toBe(200)
    expect((await put(sandbox, 'c')).status).toBe(200)
    expect((await waiting).body.items).toHaveLength(1)
    expect((await get(sandbox)).status).toBe(200)
  })

  it('waits for a place, and is served when one is left', async () => {
    const { world, sandbox, put, get } = patient
    const release = await holdStore(world)
    const sent = Array.from({ length: 3 * MAX_IN_FLIGHT }, () => put(sandbox, 'c'))
    expect((await get(world.ids.client)).status).toBe(200)
    await release()
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual(sent.map(() => 200))
  })

  it('takes one place with all the calls of a batch', async () => {
    const { world, sandbox } = impatient
    const calls = Array.from({ length: 50 }, () => 'me.profile').join(',')
    const headers = { authorization: `Bearer ${await world.token({ client_id: sandbox })}` }
    const { status, body } = await world.internal('GET', `/trpc/${calls}?batch=1`, { headers })
    expect([status, body.length]).toEqual([200, 50])
  })
})
