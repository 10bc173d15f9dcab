import type { ServerResponse } from 'node:http'
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

/** Counts the calls that asked for a place, and those that had one. */
class CountedLimit extends ConcurrencyLimit {
  asked = 0
  entered = 0

  override async enter(sender: string, response: ServerResponse) {
    this.asked++
    await super.enter(sender, response)
    this.entered++
  }
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

  const batch = async (world: World, sandbox: string) => {
    const calls = Array.from({ length: 50 }, () => 'me.profile').join(',')
    const headers = { authorization: `Bearer ${await world.token({ client_id: sandbox })}` }
    return world.internal('GET', `/trpc/${calls}?batch=1`, { headers })
  }

  it('takes one place with all the calls of a batch', async () => {
    const { world, sandbox } = impatient
    const { status, body } = await batch(world, sandbox)
    expect([status, body.length]).toEqual([200, 50])
  })

  it('waits for a place with all the calls of a batch, of which none runs before', async () => {
    const shares = new CountedLimit({ atOnce: 1, waiting: 1, waitMs: 60_000 })
    const { world, sandbox, put } = await begin(shares)
    onTestFinished(() => world.close())
    const release = await holdStore(world)
    const { asked, entered } = shares
    const first = put(sandbox, 'c')
    await expect.poll(() => shares.entered - entered).toBe(1)
    const calls = batch(world, sandbox)
    await expect.poll(() => shares.asked - asked).toBe(51)
    expect(shares.entered - entered).toBe(1)
    await release()
    expect((await first).status).toBe(200)
    const { status, body } = await calls
    expect([status, body.length, shares.entered - entered]).toEqual([200, 50, 51])
  })

  it('gets 503 for each call of a batch where there is no place', async () => {
    const shares = new CountedLimit({ atOnce: 1, waiting: 0, waitMs: 0 })
    const { world, sandbox, put } = await begin(shares)
    onTestFinished(() => world.close())
    const release = await holdStore(world)
    const { entered } = shares
    const first = put(sandbox, 'c')
    await expect.poll(() => shares.entered - entered).toBe(1)
    const { body } = await batch(world, sandbox)
    const statuses = body.map((item: { error?: { data: { httpStatus: number } } }) => item.error?.data.httpStatus)
    expect(statuses).toEqual(Array(50).fill(503))
    await release()
    expect((await first).status).toBe(200)
  })
})
